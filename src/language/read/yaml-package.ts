import type * as Yaml from 'yaml';

/** The package `yaml`. */
export type YamlPackage = typeof Yaml;

/** Loads the package: most texts are parsed without it. */
export function yamlPackage(): YamlPackage {
  return require('yaml') as YamlPackage;
}
