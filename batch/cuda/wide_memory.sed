# Calls that LLVM would turn into loops over bytes, of lengths that are unknown or more than 128.
s/call void @llvm\.memset\.p0i8\.i64\((.*i64 (%[^,]*|12[89]|1[3-9][0-9]|[2-9][0-9][0-9]|[0-9]{4,})), i1 (false|true)\)/call void @card_fill(\1)/
s/call void @llvm\.memcpy\.p0i8\.p0i8\.i64\((.*i64 (%[^,]*|12[89]|1[3-9][0-9]|[2-9][0-9][0-9]|[0-9]{4,})), i1 (false|true)\)/call void @card_copy(\1)/
s/call void @llvm\.memmove\.p0i8\.p0i8\.i64\((.*), i1 (false|true)\)/call void @card_move(\1)/
