import { createHash } from 'node:crypto';
import type { Artifact, RunArtifacts } from '#service/history.ts';
import { WfError } from '#system/errors.ts';
import { answerBytes, type DaemonClient, segment } from './daemon-client.ts';
import { type JsonMap, numberIn, objectsIn, textIn } from './json-fields.ts';
import { notUnderstood } from './problem-error.ts';
import { findRemoteRun } from './remote-runs.ts';

/** The artifacts of a run of a daemon. */
export async function remoteArtifacts(client: DaemonClient, reference: string): Promise<RunArtifacts> {
  const { runId } = (await findRemoteRun(client, reference)).summary;
  const path = `/runs/${segment(runId)}/artifacts`;
  return {
    runId,
    list: async (step) => {
      const query = step === null ? '' : `?${new URLSearchParams({ step })}`;
      const answer = await client.get(`${path}${query}`);
      return objectsIn(answer, 'artifacts').map((artifact) => readArtifact(artifact, client));
    },
    open: async (artifact) => {
      const end = new AbortController();
      const own = `${path}/${segment(artifact.step)}/${segment(artifact.path)}`;
      const incoming = await client.open(own, end.signal, { Accept: '*/*' });
      const bytes = checked(answerBytes(incoming, client), artifact);
      return { bytes, isExecutable: false, close: () => incoming.destroy() };
    },
  };
}

/** The bytes of a file, which must be those that the step kept: a proxy may have cut them. */
async function* checked(
  chunks: AsyncIterable<Uint8Array>,
  { name, bytes, sha256 }: Artifact,
): AsyncGenerator<Uint8Array, void> {
  const hash = createHash('sha256');
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > bytes) break;
    hash.update(chunk);
    yield chunk;
  }
  if (length !== bytes || hash.digest('hex') !== sha256)
    throw new WfError('storage', `the daemon sent other bytes of the artifact "${name}" than those that the step kept`);
}

function readArtifact(from: JsonMap, { settings }: DaemonClient): Artifact {
  const [step, name, path, sha256] = [
    textIn(from, 'step'),
    textIn(from, 'name'),
    textIn(from, 'path'),
    textIn(from, 'sha256'),
  ];
  const [attempt, bytes] = [numberIn(from, 'attempt'), numberIn(from, 'bytes')];
  if (step === null || name === null || path === null || sha256 === null || attempt === null || bytes === null)
    throw notUnderstood(settings, 'a field of an artifact is missing');
  return { step, attempt, name, path, bytes, sha256, ...(from['removed'] === true ? { removed: true } : {}) };
}
