import { dirname } from 'node:path';
import type { JSX } from 'preact';
import type { GraphNode, RunView } from '#run-view/view.ts';
import { fileText } from '../text/place-text.ts';
import { zonedTime } from './text.ts';

/** Names of source files and links to their lines in the page. */
export type SourcePlaces = {
  readonly sources: RunView['sources'];
  /** File names are relative to it; null: absolute. */
  readonly dir: string | null;
};

/** The sources of a run. */
export function sourcePlaces({ sources, run }: RunView): SourcePlaces {
  return { sources, dir: run.file === null ? null : dirname(run.file) };
}

/** The display name of a source. */
export function sourceName(path: string, { dir }: SourcePlaces): string {
  return fileText(path, dir);
}

/** The id of a line of a source. */
export function lineAnchor(source: number, line: number): string {
  return `l${source + 1}-${line}`;
}

/** The position of a step in its file, as a link; null if it is not known. */
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

/** A timestamp for people and programs. */
export function moment(iso: string): JSX.Element {
  return <time dateTime={iso}>{zonedTime(Date.parse(iso))}</time>;
}
