# SPDX-License-Identifier: MIT OR Apache-2.0
"""Callbacks of the library as messages, which one thread of this process hands to Python functions.

The library calls no function of Python. A call from a thread of the library would wait for the interpreter's lock. Once the
interpreter has begun to end, Python would end or stop that thread in the midst of the library. So the library's own callbacks put messages into an inbox, and a thread of
Python takes them. When the interpreter ends, that thread ends first, and later messages are discarded."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import queue
import select
import sys
import threading
import traceback
from typing import Any, Callable, Dict, Optional

from . import _abi
from ._errors import Error, UnavailableError
from ._handle import Object, out
from ._library import Lent, after_fork, lib, taken
from ._memory import python

_PATIENCE = 1.0
"""The seconds for which the end of the interpreter waits for an observer or a sink that runs."""

Handler = Callable[["Message"], None]


class Message:
    """One call of a callback: its kind, its error, the payload for an observer, the completion to settle for a host call, and the record
    for a profile."""

    __slots__ = ("kind", "payload", "error", "completion", "record")

    def __init__(self, raw: Any) -> None:
        self.kind: int = raw.kind
        self.payload: int = raw.payload
        self.error: Optional[Error] = taken(raw.error) if raw.error else None
        self.completion = Completion._around(raw.completion) if raw.completion else None
        self.record = KeptRecord._around(raw.record) if raw.record else None

    @property
    def is_last(self) -> bool:
        """Whether the ticket gets no more messages."""
        return self.kind not in (_abi.MESSAGE_OBSERVER, _abi.MESSAGE_HOST_CALL, _abi.MESSAGE_PROFILE)


class KeptRecord(Object):
    """A record of a profile."""

    __slots__ = ()
    KIND = "kept record"


class Completion(Object):
    """The signal list of a host call. Without `complete` it fails with ABORTED when this goes."""

    __slots__ = ()
    KIND = "completion"

    def complete(self, error: Optional[Error]) -> None:
        if error is None:
            lib().windlass_completion_complete(self._h, None)
            return
        with Lent(error) as pointer:
            lib().windlass_completion_complete(self._h, pointer)


class _Inbox(Object):
    """The library's inbox, and the thread that empties it. Locks are re-entrant, as the end of an object may use them at any time."""

    __slots__ = ("_handlers", "_numbers", "_reading", "_writing", "_thread", "_lock", "_ended")
    KIND = "inbox"

    def __init__(self) -> None:
        self._handlers: Dict[int, Handler] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()
        self._ended = False
        self._reading, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        pointer = out()
        lib().windlass_inbox_create(self._writing, ctypes.byref(pointer))
        self._adopt(pointer.value or 0)
        self._thread = threading.Thread(target=self._run, name="windlass", daemon=True)
        self._thread.start()
        atexit.register(self._end)

    def ticket(self, handler: Handler) -> Ticket:
        """A ticket, whose messages go to a function on the inbox's thread. The function must not block."""
        pointer, number = out(), next(self._numbers)
        with self._lock:
            if self._ended:
                raise UnavailableError("the interpreter ends: nothing can be awaited or called back any more")
            self._handlers[number] = handler
        try:
            lib().windlass_inbox_ticket(self._h, number, ctypes.byref(pointer))
        except BaseException:
            self._forget(number)
            raise
        return Ticket(self, number, pointer.value or 0)

    def settle(self) -> None:
        """Waits until the messages that are in the inbox now were handed out. On its own thread, and once it has ended, this returns at
        once."""
        if threading.current_thread() is self._thread:
            return
        passed = threading.Event()

        def pass_(_: Message) -> None:
            passed.set()

        try:
            mine = self.ticket(pass_)
        except UnavailableError:
            return
        lib().windlass_ticket_destroy(mine.address)
        while not passed.wait(0.1):
            if self._ended:
                return

    def _forget(self, number: int) -> None:
        with self._lock:
            self._handlers.pop(number, None)

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._reading, select.POLLIN)
        while not self._ended:
            poll.poll()
            try:
                os.read(self._reading, 4096)
            except BlockingIOError:
                pass
            self._take_all()

    def _take_all(self) -> None:
        functions, handle = lib(), self._h
        raw = _abi.windlass_message_t()
        raw.struct_size = ctypes.sizeof(raw)
        while not self._ended and functions.windlass_inbox_take(handle, ctypes.byref(raw)):
            message = Message(raw)
            with self._lock:
                handler = self._handlers.pop(raw.number, None) if message.is_last else self._handlers.get(raw.number)
            if handler is not None:
                try:
                    handler(message)
                except BaseException:
                    report(handler)
            handler = None

    def _end(self) -> None:
        """Runs before the interpreter ends, while Python still works."""
        if self is not _inbox:
            return  # It is the parent's of this process.
        with self._lock:
            self._ended = True
            left = list(self._handlers.values())
        os.write(self._writing, b"\0")
        # A function that blocks is given up, as those of host calls are.
        self._thread.join(_PATIENCE)
        # The library may still use the memory that these keep, so nothing may free it any more.
        for handler in left:
            python.Py_IncRef(ctypes.py_object(handler))
        # Host calls that nobody will make fail now.
        self.close()


class Ticket:
    """The user data of one callback. The library releases it with the last message."""

    __slots__ = ("_inbox", "number", "address")

    def __init__(self, inbox: _Inbox, number: int, address: int) -> None:
        self._inbox, self.number, self.address = inbox, number, address

    def revoke(self) -> None:
        """Takes the ticket back, after a call to which it was given was refused and did not take it over."""
        self._inbox._forget(self.number)
        lib().windlass_ticket_release(self.address)


_inbox: Optional[_Inbox] = None
_making = threading.RLock()


def ticket(handler: Handler) -> Ticket:
    """A ticket of this process's inbox: see _Inbox.ticket."""
    global _inbox
    with _making:
        if _inbox is None:
            _inbox = _Inbox()
    return _inbox.ticket(handler)


def settle() -> None:
    """Waits until the messages of this process's inbox were handed out: see _Inbox.settle."""
    if _inbox is not None:
        _inbox.settle()


@after_fork
def _forget() -> None:
    global _inbox, _making, _workers
    # Never freed: the release could wait for a lock that no thread will open.
    python.Py_IncRef(ctypes.py_object(_inbox))
    _inbox, _making, _workers = None, threading.RLock(), _Workers()


def callback(kind: Any, name: str) -> Any:
    """A function of the library's as a callback."""
    address = ctypes.cast(getattr(lib(), name), ctypes.c_void_p).value
    return ctypes.cast(address or 0, kind)


def keep(thing: Any) -> Ticket:
    """A ticket for windlass_ticket_destroy: the thing stays alive until the library no longer needs it."""

    def hold(_: Message, _thing: Any = thing) -> None:
        pass

    return ticket(hold)


def destroy() -> Any:
    """The callback that goes with `keep`."""
    return callback(_abi.windlass_destroy_t, "windlass_ticket_destroy")


def report(what: object) -> None:
    """Reports the exception that is being handled, which no caller can get. It never raises: its thread hands out all messages."""
    kind, value, trace = sys.exc_info()
    words = "Exception ignored in a callback of Windlass"

    class Unraisable:
        exc_type, exc_value, exc_traceback = kind, value, trace
        err_msg, object = words, what

    hook = sys.unraisablehook
    try:
        # Python's own hook, to which others may forward, takes only a type that programs cannot make.
        if hook is not sys.__unraisablehook__:
            hook(Unraisable)  # type: ignore[arg-type]
            return
    except BaseException:
        pass
    try:
        text = "".join(traceback.format_exception(kind, value, trace))
        sys.stderr.write(f"{words}: {what!r}\n{text}")
    except BaseException:
        # There may be no standard error, and the program's objects may not have a text.
        pass


class _Workers:
    """Threads for functions that may block: as many as are busy at once, and idle ones for a while."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._idle = 0
        """The number of threads that wait for work, less the work that waits for them."""
        self._lock = threading.RLock()

    def reserve(self) -> None:
        """Makes sure that a thread waits for work. Python 3.12 starts none once the interpreter ends."""
        with self._lock:
            if self._idle <= 0:
                threading.Thread(target=self._serve, name="windlass host call", daemon=True).start()
                self._idle += 1

    def run(self, work: Callable[[], None]) -> None:
        with self._lock:
            self.reserve()
            self._idle -= 1
            self._work.put(work)

    def _serve(self) -> None:
        while True:
            try:
                work = self._work.get(timeout=10)
            except queue.Empty:
                with self._lock:
                    if self._idle > 0:
                        self._idle -= 1
                        return
                # Work was given to this thread meanwhile.
                work = self._work.get()
            work()
            del work
            with self._lock:
                self._idle += 1


_workers = _Workers()


def reserve_worker() -> None:
    """Makes sure that a thread waits for a function. UnavailableError when the interpreter ends."""
    try:
        _workers.reserve()
    except RuntimeError as error:
        raise UnavailableError(f"the interpreter ends: nothing can be called back any more ({error})") from None


def in_worker(work: Callable[[], None]) -> None:
    """Runs a function that may block, on a thread of its own."""
    _workers.run(work)
