# Completion of the tenon command for bash.
_tenon() {
  local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "scenes run batch compare export check replay schema study sweep version help" -- "$word")
    return
  fi
  if [ "$command" = study ]; then
    if [ "$last" = --out ]; then
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
    else
      mapfile -t COMPREPLY < <(compgen -W "--out --quick --shard --slurm" -- "$word")
    fi
    return
  fi
  if [ "$command" = sweep ]; then
    local options="--out --threads --plan --shard --merge --status --slurm --nodes --cpus --array-limit --time --partition --account"
    if [ "$COMP_CWORD" -eq 2 ] || [ "$last" = --out ]; then
      compopt -o filenames
      mapfile -t COMPREPLY < <(
        compgen -f -X '!*.json' -- "$word"
        compgen -d -- "$word"
      )
    else
      mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    fi
    return
  fi
  if [ "$COMP_CWORD" -eq 2 ]; then
    case $command in
      run | batch | compare | export)
        compopt -o filenames
        mapfile -t COMPREPLY < <(
          compgen -W "$(tenon scenes --names)" -- "$word"
          compgen -f -X '!*.@(json|xml|mjcf|urdf)' -- "$word"
          compgen -d -- "$word"
        )
        ;;
      check)
        compopt -o filenames
        mapfile -t COMPREPLY < <(
          compgen -f -X '!*.@(xml|urdf|json)' -- "$word"
          compgen -d -- "$word"
        )
        ;;
      schema) mapfile -t COMPREPLY < <(compgen -W "--markdown" -- "$word") ;;
      scenes)
        mapfile -t COMPREPLY < <(compgen -W "--names --markdown $(tenon scenes --names)" -- "$word")
        ;;
    esac
    return
  fi
  case $last in
    --set)
      local names
      names=$(tenon scenes "${COMP_WORDS[2]}" 2>/dev/null | sed -nE 's/^  ([a-z_0-9]+=).*/\1/p')
      compopt -o nospace
      mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
      ;;
    --method | --methods) mapfile -t COMPREPLY < <(compgen -W "tenon xpbd jacobi" -- "$word") ;;
    --lanes) mapfile -t COMPREPLY < <(compgen -W "0 1 4 8 16" -- "$word") ;;
    --csv | --poses | --glb | --snapshot | --from)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      ;;
    --device) mapfile -t COMPREPLY < <(compgen -W "cpu cuda cuda-or-cpu" -- "$word") ;;
    --seconds | --substeps | --iterations | --threads | --worlds | --seed | --vary) ;;
    *)
      local options="--set --seconds --substeps --iterations --threads --lanes --json"
      case $command in
        run) options+=" --method --csv --poses --glb --snapshot --from --keyframe --base --hulls --path" ;;
        batch) options+=" --method --worlds --vary --seed --device" ;;
        compare) options+=" --methods --base --path" ;;
        check) options="--json --path" ;;
        replay) options="--lanes --threads --from --to --cut --json" ;;
        export) options="--set --seconds --substeps --iterations --method --keyframe --base --path" ;;
      esac
      mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
      ;;
  esac
}
complete -F _tenon tenon
