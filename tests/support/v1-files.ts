/** Workflows that between them use everything that the v1 API tells of one. */
export const v1Files = {
  'hello.yaml': `name: hello name
group: G1
description: says hello
tags: daily, greeting
schedule: "0 5 * * *"
params: p1 NAME=bob
env:
  - NOW: "\`date +%s\`"
  - TOKEN: s3cret-token
secrets: [TOKEN]
histRetentionDays: 7
maxActiveSteps: 2
delaySec: 0
preconditions:
  - condition: "$1"
    expected: re:.+
handlerOn:
  exit:
    command: echo bye
steps:
  - name: greet
    description: the first
    command: echo "hello $NAME"
    output: GREETING
  - name: count lines
    command: bash
    script: |
      echo one; echo two >&2
    depends: greet
    env:
      - HOW: "$GREETING"
    retryPolicy: {limit: 2, intervalSec: 1}
    continueOn: {failure: true}
    mailOn: {failure: false}
    preconditions:
      - condition: "$NAME"
        expected: bob
  - name: fail if asked
    command: test "$NAME" != fail
    depends: count lines
`,
  'ops/nightly.yaml': `tags: [daily, ops]
steps:
  - name: child
    run: hello
    params: a NAME=b
`,
  'broken.yaml': `steps:
  - name: one
    comand: echo
`,
  'a/same.yaml': 'steps: [{name: one, command: "true"}]\n',
  'b/same.yaml': 'steps: [{name: one, command: "true"}]\n',
} as const;
