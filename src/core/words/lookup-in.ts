/** A lookup of variables in a map: a name that every object has, such as `constructor`, is undefined unless it is set. */
export function lookupIn(variables: Readonly<Record<string, string>>): (name: string) => string | undefined {
  return (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined);
}
