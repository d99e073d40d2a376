; Marks the functions of kernels.c as entries of the module.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.device_call = type opaque

declare void @kernel_open(%struct.device_call*, i32)
declare void @kernel_make(%struct.device_call*, i32)
declare void @kernel_put(%struct.device_call*, i32)
declare void @kernel_step(%struct.device_call*, i32)
declare void @kernel_hash(%struct.device_call*, i32)
declare void @kernel_keep(%struct.device_call*, i32)
declare void @kernel_reset(%struct.device_call*, i32)
declare void @kernel_states(%struct.device_call*, i32)
declare void @kernel_spread(%struct.device_call*, i32)
declare void @kernel_rows(%struct.device_call*, i32)
declare void @kernel_leave(%struct.device_call*, i32)

!nvvm.annotations = !{!0, !1, !2, !3, !4, !5, !6, !7, !8, !9, !10}
!0 = !{void (%struct.device_call*, i32)* @kernel_open, !"kernel", i32 1}
!1 = !{void (%struct.device_call*, i32)* @kernel_make, !"kernel", i32 1}
!2 = !{void (%struct.device_call*, i32)* @kernel_put, !"kernel", i32 1}
!3 = !{void (%struct.device_call*, i32)* @kernel_step, !"kernel", i32 1}
!4 = !{void (%struct.device_call*, i32)* @kernel_hash, !"kernel", i32 1}
!5 = !{void (%struct.device_call*, i32)* @kernel_keep, !"kernel", i32 1}
!6 = !{void (%struct.device_call*, i32)* @kernel_reset, !"kernel", i32 1}
!7 = !{void (%struct.device_call*, i32)* @kernel_states, !"kernel", i32 1}
!8 = !{void (%struct.device_call*, i32)* @kernel_spread, !"kernel", i32 1}
!9 = !{void (%struct.device_call*, i32)* @kernel_rows, !"kernel", i32 1}
!10 = !{void (%struct.device_call*, i32)* @kernel_leave, !"kernel", i32 1}
