// The module of the card, as bytes.
__asm__(".section .rodata\n"
        ".global tenon_cuda_module\n"
        ".hidden tenon_cuda_module\n"
        "tenon_cuda_module:\n"
        ".incbin \"" TENON_PTX "\"\n"
        ".byte 0\n"
        ".previous\n");

extern const char tenon_cuda_module[];
