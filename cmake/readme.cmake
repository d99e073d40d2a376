# Writes the first C block of README.md to a file.
# usage: cmake -DREADME=... -DOUTPUT=... -P readme.cmake
file(READ ${README} text)
string(FIND "${text}" "```c\n" begin)
if(begin EQUAL -1)
  message(FATAL_ERROR "${README} has no C block")
endif()
math(EXPR begin "${begin} + 5")
string(SUBSTRING "${text}" ${begin} -1 text)
string(FIND "${text}" "\n```" length)
math(EXPR length "${length} + 1")
string(SUBSTRING "${text}" 0 ${length} text)
file(WRITE ${OUTPUT} "${text}")
