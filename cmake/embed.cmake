# Writes a file as a C string: cmake -DFROM=file -DTO=header -DNAME=identifier -P embed.cmake
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x[0-9a-f][0-9a-f],){24})" "\\1\n" bytes "${bytes}")
file(WRITE ${TO} "static const char ${NAME}[] = {\n${bytes}0};\n")
