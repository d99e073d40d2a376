#compdef tenon
# Completion of the tenon command for zsh.

_tenon_scenes() {
  compadd -- ${(f)"$(tenon scenes --names)"}
}

_tenon_scenes_and_files() {
  _tenon_scenes
  _files -g '*.(json|xml|mjcf|urdf)'
}

_tenon_parameters() {
  compadd -S '' -- ${(f)"$(tenon scenes $line[1] 2>/dev/null | sed -nE 's/^  ([a-z_0-9]+=).*/\1/p')"}
}

_tenon() {
  local state line
  _arguments -C '1:command:(scenes run batch compare export check replay schema study sweep version help)' '*::argument:->arguments'
  local common=(
    '*--set[set a parameter of the scene]:name=value:_tenon_parameters'
    '--seconds[simulated time]:seconds:'
    '--iterations[passes per substep]:number:'
    '--threads[number of threads]:number:'
    '--lanes[SIMD width]:lanes:(0 1 4 8 16)'
    '--json[print JSON]'
  )
  [[ $state == arguments ]] || return
  case $words[1] in
    run)
      _arguments '1:scene:_tenon_scenes_and_files' $common \
        '--substeps[substeps per frame]:number:' \
        '--method[solver method]:method:(tenon xpbd jacobi)' \
        '--csv[write metrics]:file:_files' '--poses[write poses]:file:_files' \
        '--glb[write the motion as glTF]:file:_files' \
        '--snapshot[write the final state]:file:_files' \
        '--from[continue from a snapshot]:file:_files' \
        '--keyframe[start of a robot]:name:' '--base[root link of a URDF]:base:(fixed free)' \
        '--hulls[convex parts of each mesh]:number:' \
        '*--path[folder of meshes and packages]:folder:_files -/'
      ;;
    compare)
      _arguments '1:scene:_tenon_scenes_and_files' $common \
        '--substeps[substeps per frame]:numbers:' \
        '--methods[solver methods]:methods:(tenon xpbd jacobi)'
      ;;
    export)
      _arguments '1:scene:_tenon_scenes_and_files' \
        '*--set[set a parameter of the scene]:name=value:_tenon_parameters' \
        '--seconds[simulated time]:seconds:' '--substeps[substeps per frame]:number:' \
        '--iterations[passes per substep]:number:' \
        '--method[solver method]:method:(tenon xpbd jacobi)'
      ;;
    check)
      _arguments '1:file:_files -g "*.(xml|urdf|json)"' '--json[print JSON]' \
        '*--path[folder of meshes and packages]:folder:_files -/'
      ;;
    replay)
      _arguments '1:recording:_files' '--lanes[SIMD width]:lanes:(0 1 4 8 16)' '--threads[threads]:number:' \
        '--from[first step]:number:' '--to[the step after the last]:number:' \
        '--cut[write these steps]:file:_files' '--json[print JSON]'
      ;;
    schema) _arguments '--markdown[print Markdown tables]' ;;
    study) _arguments '--out[output folder]:folder:_files -/' '--quick[shorter and smaller]' \
      '--shard[measure one of N parts]:I/N:' '--slurm[submit to a Slurm cluster]' ;;
    sweep)
      _arguments '1:spec:_files -g "*.json"' '--out[output folder]:folder:_files -/' \
        '--threads[runs at the same time]:number:' '--plan[print cost and job script]' \
        '--shard[run one of N parts]:I/N:' '--merge[only merge]' '--status[print progress]' \
        '--slurm[submit to a Slurm cluster]' '--nodes[nodes to keep busy]:number:' \
        '--cpus[CPUs per task]:number:' '--array-limit[tasks at the same time]:number:' \
        '--time[time limit]:time:' '--partition[partition]:name:' '--account[account]:name:'
      ;;
    scenes) _arguments '1:scene:_tenon_scenes' '--names[print only the names]' '--markdown[print a Markdown table]' ;;
  esac
}

_tenon "$@"
