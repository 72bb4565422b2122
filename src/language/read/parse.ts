import type { Source } from '../diagnostic.ts';
import { parseYaml } from './parse-yaml.ts';
import { parsePlain } from './plain/parse-plain.ts';
import type { ParseResult } from './yaml-document.ts';

/** Parses one YAML document: in the form that most files have at once, any other with the package `yaml`. */
export function parse(source: Source): ParseResult {
  const contents = parsePlain(source.text);
  return contents === null ? parseYaml(source) : { document: { contents, unknownTags: [] }, problems: [] };
}
