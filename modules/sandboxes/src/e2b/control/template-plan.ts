import { Type, type Static } from 'typebox';
import type { ImageCatalog } from '../../domain/images/catalog.ts';
import { MAX_STEPS, shellCommand, type BuildPlan, type BuildStep } from '../../domain/templates/build-plan.ts';
import { sandboxErrors } from '../../errors.ts';
import { DEFAULT_USER } from '../envd/users.ts';
import { findImage } from './create-body.ts';

const MAX_TEXT = 65_536;
const text = Type.String({ maxLength: MAX_TEXT, pattern: '^[^\\u0000]*$' });

export const startBuildSchema = Type.Object({
  fromImage: Type.Optional(Type.String({ maxLength: 512 })),
  fromTemplate: Type.Optional(Type.String({ maxLength: 512 })),
  fromImageRegistry: Type.Optional(Type.Unknown()),
  force: Type.Optional(Type.Boolean()),
  steps: Type.Optional(
    Type.Array(
      Type.Object({
        type: Type.String({ maxLength: 32 }),
        args: Type.Optional(Type.Array(text, { maxItems: 1000 })),
        filesHash: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,120}$' })),
        force: Type.Optional(Type.Boolean()),
      }),
      { maxItems: MAX_STEPS },
    ),
  ),
  startCmd: Type.Optional(text),
  readyCmd: Type.Optional(text),
});

type Given = Static<typeof startBuildSchema>;

/** The name of an archive that a client names by a hash of its own. */
export function clientArchive(hash: string): string {
  return `e2b-${hash}`;
}

/** Translates the steps of a client. `isOwn`: whether a name is a template of the workspace. Throws E2B_UNSUPPORTED. */
export async function toClientPlan(
  given: Given,
  catalog: ImageCatalog,
  isOwn: (name: string) => Promise<boolean>,
): Promise<BuildPlan> {
  if (given.fromImageRegistry !== undefined) {
    throw unsupported('A registry with credentials', 'let the operator add the image to sandboxes.images');
  }
  const wanted = given.fromTemplate ?? given.fromImage;
  if (wanted === undefined) {
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'fromImage', reason: 'is required' } });
  }
  const isTemplate = await isOwn(wanted);
  const from = isTemplate ? wanted : (findImage(wanted.replace(/:latest$/, ''), catalog) ?? wanted);
  const initial = isTemplate ? null : { user: DEFAULT_USER, workingFolder: `/home/${DEFAULT_USER}` };
  let user: string | null = initial?.user ?? null;
  const steps = (given.steps ?? []).map((step, index) => {
    const translated = toStep(step, index, user);
    if (translated.kind === 'user') user = translated.name;
    return translated;
  });
  return {
    stages: [{ name: null, from, line: null, steps }],
    startCommand: startLine(given.startCmd),
    readyCommand: given.readyCmd === undefined || given.readyCmd === '' ? null : given.readyCmd,
    initial,
    args: {},
    noCache: given.force === true,
  };
}

function startLine(line: string | undefined): readonly string[] | null {
  return line === undefined || line === '' ? null : shellCommand(line);
}

function toStep(
  { type, args = [], filesHash, force = false }: NonNullable<Given['steps']>[number],
  index: number,
  user: string | null,
): BuildStep {
  const place = { line: null, expand: false, force, text: `${type} ${args.join(' ')}`.slice(0, 1000) };
  const [first = '', second = '', owner = '', mode = ''] = args;
  switch (type.toUpperCase()) {
    case 'RUN':
      return { ...place, kind: 'run', argv: shellCommand(first), user: second === '' ? null : second };
    case 'COPY': {
      if (filesHash === undefined) throw invalid(index, 'COPY needs filesHash');
      const copy = { sources: [first], destination: second, mode: mode === '' ? null : mode, from: null };
      return { ...place, ...copy, kind: 'copy', owner: owner === '' ? user : owner, files: clientArchive(filesHash) };
    }
    case 'ENV': {
      const names = args.filter((_each, at) => at % 2 === 0);
      const variables = names.map((name, at) => [name, args[2 * at + 1] ?? ''] as const);
      return { ...place, kind: 'env', variables, text: `ENV ${names.join(' ')}` };
    }
    case 'WORKDIR':
      return { ...place, kind: 'workdir', path: first };
    case 'USER':
      return { ...place, kind: 'user', name: first };
    default:
      throw unsupported(`The step ${type.slice(0, 32)}`, 'use COPY, ENV, RUN, USER or WORKDIR');
  }
}

function invalid(index: number, reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field: `steps[${index}]`, reason } });
}

function unsupported(feature: string, remedy: string): Error {
  return sandboxErrors.E2B_UNSUPPORTED({ details: { feature, remedy } });
}
