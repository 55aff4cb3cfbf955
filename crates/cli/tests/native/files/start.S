    .globl from_assembly
    .type from_assembly, @function
from_assembly:
    movl $42, %eax
    ret
    .section .note.GNU-stack,"",@progbits
