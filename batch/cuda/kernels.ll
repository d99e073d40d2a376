; Marks the functions of kernels.c as entries of the module.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.device_call = type opaque

; Where the worlds are, and the bytes of a group: constant memory, which the host writes.
@woven_worlds = addrspace(4) externally_initialized global [2 x i64] zeroinitializer, align 8

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; A block is a group, a thread its lane.
define i64 @woven_lane() alwaysinline {
  %base = load i64, i64 addrspace(4)* getelementptr ([2 x i64], [2 x i64] addrspace(4)* @woven_worlds, i64 0, i64 0)
  %bytes = load i64, i64 addrspace(4)* getelementptr ([2 x i64], [2 x i64] addrspace(4)* @woven_worlds, i64 0, i64 1)
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %group = zext i32 %block to i64
  %lane = zext i32 %thread to i64
  %before = mul i64 %group, %bytes
  %word = shl i64 %lane, 2
  %first = add i64 %base, %before
  %address = add i64 %first, %word
  ret i64 %address
}

declare void @kernel_open(%struct.device_call*, i32)
declare void @kernel_make(%struct.device_call*, i32)
declare void @kernel_step(%struct.device_call*, i32)
declare void @kernel_hash(%struct.device_call*, i32)
declare void @kernel_keep(%struct.device_call*, i32)
declare void @kernel_reset(%struct.device_call*, i32)
declare void @kernel_send(%struct.device_call*, i32)
declare void @kernel_spread(%struct.device_call*, i32)
declare void @kernel_rows(%struct.device_call*, i32)

!nvvm.annotations = !{!0, !1, !2, !3, !4, !5, !6, !7, !8}
!0 = !{void (%struct.device_call*, i32)* @kernel_open, !"kernel", i32 1}
!1 = !{void (%struct.device_call*, i32)* @kernel_make, !"kernel", i32 1}
!2 = !{void (%struct.device_call*, i32)* @kernel_step, !"kernel", i32 1}
!3 = !{void (%struct.device_call*, i32)* @kernel_hash, !"kernel", i32 1}
!4 = !{void (%struct.device_call*, i32)* @kernel_keep, !"kernel", i32 1}
!5 = !{void (%struct.device_call*, i32)* @kernel_reset, !"kernel", i32 1}
!6 = !{void (%struct.device_call*, i32)* @kernel_send, !"kernel", i32 1}
!7 = !{void (%struct.device_call*, i32)* @kernel_spread, !"kernel", i32 1}
!8 = !{void (%struct.device_call*, i32)* @kernel_rows, !"kernel", i32 1}
