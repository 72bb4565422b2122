import { dirname } from 'node:path';
import type { JSX } from 'preact';
import type { GraphNode, RunView } from '../../page/run-view/view.ts';
import { fileText } from '../text/place-text.ts';
import { zonedTime } from './text.ts';

/** What places in the sources are called and where the page has them. */
export type SourcePlaces = {
  readonly sources: RunView['sources'];
  /** Files are named relative to it; null: in full. */
  readonly dir: string | null;
};

/** The sources of a run. */
export function sourcePlaces({ sources, run }: RunView): SourcePlaces {
  return { sources, dir: run.file === null ? null : dirname(run.file) };
}

/** The name of a source for people. */
export function sourceName(path: string, { dir }: SourcePlaces): string {
  return fileText(path, dir);
}

/** The id of a line of a source. */
export function lineAnchor(source: number, line: number): string {
  return `l${source + 1}-${line}`;
}

/** Where a step is in the file, as a link; null if that is not known. */
export function placeLink(node: GraphNode | null, places: SourcePlaces): JSX.Element | null {
  const place = node?.place ?? null;
  if (place === null) return null;
  const path = places.sources[place.source]?.path ?? '-';
  return (
    <a href={`#${lineAnchor(place.source, place.line)}`}>
      <code>{`${sourceName(path, places)}:${place.line}:${place.column}`}</code>
    </a>
  );
}

/** A moment for people and programs. */
export function moment(iso: string): JSX.Element {
  return <time dateTime={iso}>{zonedTime(Date.parse(iso))}</time>;
}
