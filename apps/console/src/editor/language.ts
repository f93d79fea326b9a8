import { StreamLanguage, type StreamParser } from '@codemirror/language';
import { endingOf } from './name-ending.ts';

type Load = () => Promise<StreamParser<unknown>>;

const clike = () => import('@codemirror/legacy-modes/mode/clike');
const javascript = () => import('@codemirror/legacy-modes/mode/javascript');
const markup = () => import('@codemirror/legacy-modes/mode/xml');
const shell: Load = async () => (await import('@codemirror/legacy-modes/mode/shell')).shell;
const properties: Load = async () => (await import('@codemirror/legacy-modes/mode/properties')).properties;
const yaml: Load = async () => (await import('@codemirror/legacy-modes/mode/yaml')).yaml;

const BY_ENDING: ReadonlyMap<string, Load> = new Map<string, Load>([
  ...each(['js', 'jsx', 'mjs', 'cjs'], async () => (await javascript()).javascript),
  ...each(['ts', 'tsx', 'mts', 'cts'], async () => (await javascript()).typescript),
  ...each(['json', 'jsonc'], async () => (await javascript()).json),
  ...each(['css', 'scss'], async () => (await import('@codemirror/legacy-modes/mode/css')).css),
  ...each(['py', 'pyi'], async () => (await import('@codemirror/legacy-modes/mode/python')).python),
  ...each(['sh', 'bash', 'zsh', 'profile'], shell),
  ...each(['yml', 'yaml'], yaml),
  ...each(['toml'], async () => (await import('@codemirror/legacy-modes/mode/toml')).toml),
  ...each(['go'], async () => (await import('@codemirror/legacy-modes/mode/go')).go),
  ...each(['rs'], async () => (await import('@codemirror/legacy-modes/mode/rust')).rust),
  ...each(['rb'], async () => (await import('@codemirror/legacy-modes/mode/ruby')).ruby),
  ...each(['lua'], async () => (await import('@codemirror/legacy-modes/mode/lua')).lua),
  ...each(['sql'], async () => (await import('@codemirror/legacy-modes/mode/sql')).standardSQL),
  ...each(['diff', 'patch'], async () => (await import('@codemirror/legacy-modes/mode/diff')).diff),
  ...each(['c', 'h'], async () => (await clike()).c),
  ...each(['cc', 'cpp', 'hpp'], async () => (await clike()).cpp),
  ...each(['java'], async () => (await clike()).java),
  ...each(['html', 'htm', 'vue'], async () => (await markup()).html),
  ...each(['xml', 'svg'], async () => (await markup()).xml),
  ...each(['ini', 'conf', 'cfg', 'env', 'properties'], properties),
]);

const BY_NAME: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['Dockerfile', async () => (await import('@codemirror/legacy-modes/mode/dockerfile')).dockerFile],
  ['.bashrc', shell],
  ['.profile', shell],
  ['.env', properties],
]);

/** Loads the language for a file name on demand; null for plain text. */
export async function loadLanguage(name: string): Promise<StreamLanguage<unknown> | null> {
  const load = BY_NAME.get(name) ?? BY_ENDING.get(endingOf(name));
  return load === undefined ? null : StreamLanguage.define(await load());
}

function each(endings: readonly string[], load: Load): [string, Load][] {
  return endings.map((ending) => [ending, load]);
}
