# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gradients: `Function` for operations with a gradient of their own, and the walk back through all steps."""

import numpy as np

from ._tensor import Step, Tensor, _recording, no_grad, result


class _Context:
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors


class Function:
    @classmethod
    def apply(cls, *arguments):
        context = _Context()
        with no_grad():
            made = cls.forward(context, *arguments)
        if _recording[0] and any(isinstance(one, Tensor) and one.requires_grad for one in arguments):
            made.requires_grad, made._step = True, _Own(cls, context, arguments)
        return made


class _Own(Step):
    """A step that computes the gradients of all operands at once."""

    def __init__(self, function, context, arguments):
        self.function, self.context = function, context
        self.places = [place for place, one in enumerate(arguments) if isinstance(one, Tensor)]
        super().__init__([arguments[place] for place in self.places], None)

    def all(self, gradient):
        found = self.function.backward(self.context, gradient)
        found = found if isinstance(found, tuple) else (found,)
        return [found[place]._values() if found[place] is not None else None for place in self.places]


def backward(tensor, gradient=None):
    """Adds the gradient of each tensor that requires one, and that was not computed, to its `grad`."""
    if gradient is None:
        gradient = Tensor(np.ones(tensor.shape, np.float32), tensor.dtype)
    gradients = {id(tensor): gradient._values()}
    with no_grad():
        for one in reversed(_in_order(tensor)):
            values = gradients.pop(id(one), None)
            if values is None:
                continue
            if one._step is None:
                new = result(values, one.dtype)
                one.grad = new if one.grad is None else one.grad + new
                continue
            if isinstance(one._step, _Own):
                parts = one._step.all(result(values, one.dtype))
            else:
                parts = [of(values) for of in one._step.gradients]
            for operand, part in zip(one._step.operands, parts):
                if operand.requires_grad and part is not None:
                    gradients[id(operand)] = gradients[id(operand)] + part if id(operand) in gradients else part


def _in_order(last):
    """All tensors that one was computed from, each behind its operands."""
    order, seen = [], set()

    def visit(tensor):
        if id(tensor) in seen or not tensor.requires_grad:
            return
        seen.add(id(tensor))
        for operand in tensor._step.operands if tensor._step else ():
            visit(operand)
        order.append(tensor)

    visit(last)
    return order
