import { useSignal } from '@preact/signals';
import { byteText } from '#render/text.ts';
import type { Artifact, RunHead, StepView } from '#run-view/api/types.ts';
import { counted } from '#run-view/texts.ts';
import { to } from '../../api/address.ts';
import { ApiProblem, api, ask } from '../../api/client.ts';
import { useResource } from '../../data/resource.ts';
import { Button } from '../../parts/controls.tsx';
import { LoadingOrProblem, ProblemBox } from '../../parts/problem-box.tsx';

/** The most files that are listed. */
const MAX_LISTED = 1000;
/** The largest file that is shown, in bytes. */
const MAX_SHOWN = 2 ** 20;

/** The files that the steps of a run have kept, of those that have finished so far. */
export function RunArtifacts({ head, steps }: { head: RunHead; steps: readonly StepView[] }) {
  const finished = steps.filter(({ finishedAt }) => finishedAt !== null).length;
  const { value, problem, refresh } = useResource(() => readArtifacts(head.runId), [head.runId, finished]);
  if (value === null) return <LoadingOrProblem problem={problem} retry={refresh} />;
  if (value.length === 0) return <p class="note">No step of this run has kept files.</p>;
  const bytes = value.reduce((sum, artifact) => sum + artifact.bytes, 0);
  const more = value.length - MAX_LISTED;
  return (
    <div class="artifacts">
      <div class="artifact">
        <span>{`${counted(value.length, 'file')}, ${byteText(bytes)}`}</span>
        {value.some(({ removed }) => removed) ? (
          <span class="quiet">The files have been removed.</span>
        ) : (
          <a class="plain-link" href={to.archive(head.runId)} download>
            Save all of them
          </a>
        )}
      </div>
      <ul>
        {value.slice(0, MAX_LISTED).map((artifact) => (
          <ArtifactLine key={artifact.name} runId={head.runId} artifact={artifact} />
        ))}
      </ul>
      {more > 0 && <p class="quiet">and {counted(more, 'other file')}</p>}
    </div>
  );
}

async function readArtifacts(id: string): Promise<readonly Artifact[]> {
  const answer = await ask(api.GET('/api/v2/runs/{id}/artifacts', { params: { path: { id } } }));
  return (answer as { readonly artifacts: readonly Artifact[] }).artifacts;
}

/** What is read of a file: its text, or its address as an image. */
type Content = { readonly text: string } | { readonly image: string };

function ArtifactLine({ runId, artifact }: { runId: string; artifact: Artifact }) {
  const { name, step, path, bytes, removed = false } = artifact;
  const address = to.artifact(runId, step, path);
  const content = useSignal<Content | null>(null);
  const problem = useSignal<ApiProblem | null>(null);
  const type = shownType(path);
  const toggle = async () => {
    if (content.value !== null) {
      content.value = null;
      return;
    }
    problem.value = null;
    try {
      content.value = await readContent(address, type ?? 'text');
    } catch (error) {
      problem.value = ApiProblem.of(error);
    }
  };
  return (
    <li>
      <div class="artifact">
        {removed ? (
          <span>{name}</span>
        ) : (
          <a class="plain-link" href={address} download>
            {name}
          </a>
        )}
        <span class="quiet">{byteText(bytes)}</span>
        {type !== null && bytes <= MAX_SHOWN && !removed && (
          <Button
            text={content.value === null ? 'Show' : 'Hide'}
            aria-label={`${content.value === null ? 'Show' : 'Hide'} ${name}`}
            onClick={() => void toggle()}
          />
        )}
      </div>
      {content.value !== null && <Shown content={content.value} name={name} />}
      {problem.value !== null && <ProblemBox problem={problem.value} />}
    </li>
  );
}

function Shown({ content, name }: { content: Content; name: string }) {
  return 'image' in content ? <img src={content.image} alt={name} /> : <pre>{content.text}</pre>;
}

const IMAGES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
};
const TEXTS =
  /\.(?:txt|log|md|json|jsonl|ndjson|ya?ml|csv|tsv|xml|html?|css|svg|toml|ini|sh|sql|[cm]?[jt]sx?|py|rb|go|rs)$/i;

/** The media type of an image that a browser draws, `text`, or null for any other file. Files are judged by their names. */
function shownType(path: string): string | null {
  const image = IMAGES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
  return image ?? (TEXTS.test(path) ? 'text' : null);
}

/** Nothing in a file is run: a text is shown as it is, also that of a page, and an image is a part of this document. */
async function readContent(address: string, type: string): Promise<Content> {
  const response = await fetch(address).catch((error: unknown) => {
    throw ApiProblem.unreachable(error);
  });
  if (!response.ok) throw ApiProblem.refused(response, await response.json().catch(() => null));
  if (type === 'text') return { text: await response.text() };
  return { image: await dataUrl(new Blob([await response.arrayBuffer()], { type })) };
}

function dataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
