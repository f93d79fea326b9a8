import { usageFailure } from '../client/command-failure.ts';

const RENDERERS: Readonly<Record<string, (name: string, value: string) => string>> = {
  sh: (name, value) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'`,
  fish: (name, value) => `set -gx ${name} '${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`,
  powershell: (name, value) => `$env:${name} = '${value.replaceAll("'", "''")}'`,
};

/** Renders one line per variable, in the syntax of a shell. */
export function renderVariables(variables: Readonly<Record<string, string>>, shell: string): string[] {
  const render = RENDERERS[shell];
  if (render === undefined) throw usageFailure(`${shell} is not a supported shell`, Object.keys(RENDERERS).join(', '));
  return Object.entries(variables).map(([name, value]) => render(name, value));
}

/** Parses the `sh` output of `renderVariables`. */
export function parseVariables(text: string): ReadonlyMap<string, string> {
  const lines = text.matchAll(/^export ([A-Z_0-9]+)='(.*)'$/gm);
  return new Map([...lines].map(([, name = '', value = '']) => [name, value.replaceAll(String.raw`'\''`, "'")]));
}
