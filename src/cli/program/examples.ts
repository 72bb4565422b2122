/** The examples of `wf help COMMAND`, each with a short explanation. */
export const examples: Readonly<Record<string, readonly (readonly [line: string, does: string])[]>> = {
  run: [
    ['wf run deploy.yaml', 'run a file'],
    ["wf run deploy -- ENV=prod 'NOTE=two words'", 'with parameters'],
    ['wf run deploy --detach', 'in the background; prints its id'],
    ['wf run build.yaml --watch', 'again whenever its files change'],
  ],
  dry: [['wf dry deploy -- ENV=prod', 'print the plan with the values of this run']],
  exec: [['wf exec --name backup -- pg_dump -f all.sql shop', 'with logs and history']],
  stop: [
    ['wf stop @latest', 'stop the last run'],
    ['wf stop deploy --all', 'stop every active run of a workflow'],
  ],
  retry: [
    ['wf retry @failed', 'retry the last failed run'],
    ['wf retry @failed --from load', 'run one step and everything that depends on it'],
    ['wf retry @failed --file', 'retry with the corrected file'],
  ],
  restart: [['wf restart deploy', 'restart the last run of a workflow']],
  approve: [
    ['wf approve @latest', 'approve the step that waits'],
    ['wf approve deploy ship -p WHY=release', 'with an input'],
  ],
  reject: [['wf reject @latest --reason postponed', 'reject the step that waits']],
  mark: [['wf mark @failed load succeeded', 'let a retry skip this step']],
  notify: [['wf notify deploy', 'check that its notifications arrive']],
  list: [['wf list --json', 'print every workflow as JSON']],
  status: [
    ['wf status', 'show the last run'],
    ['wf status deploy', 'show the last run of a workflow'],
  ],
  history: [['wf history deploy --status failed --last 7d', 'the failed runs of a week']],
  logs: [
    ['wf logs @latest load', 'print the output of one step'],
    ['wf logs @latest --follow', 'follow the output of a running workflow'],
  ],
  report: [['wf report @failed --output failed.html', 'the last failed run']],
  gc: [['wf gc --older-than 30d --dry-run', 'print the runs that are too old']],
  serve: [
    ['wf serve', 'on http://127.0.0.1:8080'],
    ['wf serve --host 0.0.0.0 --require-login', 'on all addresses, with a token'],
  ],
  init: [
    ['wf init deploy.yaml', 'write a first workflow'],
    ['wf init --list', 'print the templates'],
  ],
  validate: [
    ['wf validate deploy.yaml', 'check one file'],
    ['wf validate', 'check the whole workflows directory'],
  ],
  graph: [['wf graph deploy.yaml --format mermaid', 'for a Markdown page']],
  schema: [['wf schema steps.retryPolicy', 'explain one key of workflow files']],
  config: [['wf config maxConcurrentRuns', 'print one setting']],
  doctor: [['wf doctor', 'check Docker, SSH, Terraform and the other tools']],
  completion: [['wf completion bash', 'print the completion script of bash']],
  version: [['wf version --json', 'print the versions of wf and Node']],
};
