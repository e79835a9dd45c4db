; SPDX-License-Identifier: MIT OR Apache-2.0
; The one function of ROCm's device library that the modules of this folder need: the block's size, which the runtime
; puts behind the kernel's own arguments.
declare align 4 ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()

define i64 @__ockl_get_local_size(i32 %dimension) alwaysinline {
  %hidden = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %sizes = getelementptr i8, ptr addrspace(4) %hidden, i64 12
  %index = zext i32 %dimension to i64
  %place = getelementptr i16, ptr addrspace(4) %sizes, i64 %index
  %size = load i16, ptr addrspace(4) %place, align 2
  %wide = zext i16 %size to i64
  ret i64 %wide
}
