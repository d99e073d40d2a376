# LLVM inlines functions that take structures by value as if these lay at any address, and cards then
# read them byte by byte. Floats, doubles and pointers are aligned to their sizes; integers may stand
# for rows of bytes.
s/(= load (float|<2 x float>), .*), align 1\b/\1, align 4/
s/(= load (double|[^,]*\*), .*), align 1\b/\1, align 8/
s/^( *store (float|<2 x float>) .*), align 1\b/\1, align 4/
s/^( *store (double|[^,]*\*) .*), align 1\b/\1, align 8/
