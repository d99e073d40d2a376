#compdef tenon
# Completion of the tenon command for zsh.

_tenon_scenes() {
  compadd -- ${(f)"$(tenon scenes --names)"}
}

_tenon_scenes_and_files() {
  _tenon_scenes
  _files -g '*.json'
}

_tenon_parameters() {
  compadd -S '' -- ${(f)"$(tenon scenes $line[1] 2>/dev/null | sed -nE 's/^  ([a-z_0-9]+=).*/\1/p')"}
}

_tenon() {
  local state line
  _arguments -C '1:command:(scenes run compare export schema study version help)' '*::argument:->arguments'
  local common=(
    '*--set[set a parameter of the scene]:name=value:_tenon_parameters'
    '--seconds[simulated time]:seconds:'
    '--iterations[passes in a substep]:number:'
    '--threads[threads to solve with]:number:'
    '--lanes[constraints at a time]:lanes:(0 1 4 8 16)'
    '--json[print JSON]'
  )
  [[ $state == arguments ]] || return
  case $words[1] in
    run)
      _arguments '1:scene:_tenon_scenes_and_files' $common \
        '--substeps[substeps in a frame]:number:' \
        '--method[how to solve]:method:(tenon xpbd jacobi)' \
        '--csv[write metrics]:file:_files' '--poses[write poses]:file:_files' \
        '--glb[write the motion as glTF]:file:_files' \
        '--snapshot[write the state at the end]:file:_files' \
        '--from[go on from a snapshot]:file:_files'
      ;;
    compare)
      _arguments '1:scene:_tenon_scenes_and_files' $common \
        '--substeps[substeps in a frame]:numbers:' \
        '--methods[how to solve]:methods:(tenon xpbd jacobi)'
      ;;
    export)
      _arguments '1:scene:_tenon_scenes_and_files' \
        '*--set[set a parameter of the scene]:name=value:_tenon_parameters' \
        '--seconds[simulated time]:seconds:' '--substeps[substeps in a frame]:number:' \
        '--iterations[passes in a substep]:number:' \
        '--method[how to solve]:method:(tenon xpbd jacobi)'
      ;;
    schema) _arguments '--markdown[as tables]' ;;
    study) _arguments '--out[where to]:folder:_files -/' '--quick[shorter and smaller]' ;;
    scenes) _arguments '1:scene:_tenon_scenes' '--names[only the names]' '--markdown[as a table]' ;;
  esac
}

_tenon "$@"
