/** A step of a build. Texts with `expand` hold variables that are replaced when the step runs. */
export type BuildStep = StepPlace &
  (
    | { readonly kind: 'run'; readonly argv: readonly string[]; readonly user: string | null }
    | CopyStep
    | { readonly kind: 'env'; readonly variables: readonly (readonly [string, string])[] }
    | { readonly kind: 'arg'; readonly name: string; readonly value: string | null }
    | { readonly kind: 'workdir'; readonly path: string }
    | { readonly kind: 'user'; readonly name: string }
    | { readonly kind: 'expose'; readonly ports: readonly string[] }
  );

export interface CopyStep {
  readonly kind: 'copy';
  /** Paths in the archive or in the other image; the last part of each may have the wildcards `*`, `?` and `[…]`. */
  readonly sources: readonly string[];
  readonly destination: string;
  /** A user, or `user:group`; null for root. */
  readonly owner: string | null;
  /** Octal; null keeps the modes. */
  readonly mode: string | null;
  /** A stage by number, or the name of an image or a template; null for uploaded files. */
  readonly from: number | string | null;
  /** Name of the uploaded archive with the files. */
  readonly files: string | null;
}

export interface StepPlace {
  /** As written, for the log. */
  readonly text: string;
  /** Line of the Dockerfile, from 1. */
  readonly line: number | null;
  readonly expand: boolean;
  /** From this step on, nothing is taken from the cache. */
  readonly force: boolean;
}

export interface BuildStage {
  readonly name: string | null;
  /** A stage by number, or the name of an image or a template. */
  readonly from: number | string;
  readonly line: number | null;
  readonly steps: readonly BuildStep[];
}

/** All that a build does. The last stage makes the image. */
export interface BuildPlan {
  readonly stages: readonly BuildStage[];
  readonly startCommand: readonly string[] | null;
  /** Run by a shell until it succeeds, once the start command runs. */
  readonly readyCommand: string | null;
  /** User and folder that the first stage's steps begin with, instead of those of the image. */
  readonly initial: { readonly user: string; readonly workingFolder: string } | null;
  /** Values of `arg` steps. */
  readonly args: Readonly<Record<string, string>>;
  readonly noCache: boolean;
}

export const MAX_STEPS = 200;
export const MAX_STAGES = 20;
/** Of a text after its variables were replaced. */
const MAX_TEXT_CHARACTERS = 65_536;
/** Of all variables of a stage, with their names. */
const MAX_VARIABLE_CHARACTERS = 262_144;

/** Runs a command line as Docker does. */
export function shellCommand(command: string): readonly string[] {
  return ['/bin/sh', '-c', command];
}

/** The stages that the last one needs, itself included. */
export function neededStages(plan: Pick<BuildPlan, 'stages'>): ReadonlySet<number> {
  const needed = new Set<number>();
  const visit = (index: number): void => {
    const stage = plan.stages[index];
    if (stage === undefined || needed.has(index)) return;
    needed.add(index);
    if (typeof stage.from === 'number') visit(stage.from);
    for (const step of stage.steps) if (step.kind === 'copy' && typeof step.from === 'number') visit(step.from);
  };
  visit(plan.stages.length - 1);
  return needed;
}

const VARIABLE = /\\\$|\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-+])([^{}]*))?\})/g;

/** Creates the error for a limit that is exceeded. */
export type Refuse = (reason: string) => Error;

/** Variables of a stage. Bounded, because each value may repeat others. */
export class BuildVariables {
  readonly #values = new Map<string, string>();
  #characters = 0;

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  entries(): [string, string][] {
    return [...this.#values];
  }

  set(name: string, value: string, refuse: Refuse): void {
    const before = this.#values.get(name);
    this.#characters += value.length + (before === undefined ? name.length : -before.length);
    if (this.#characters > MAX_VARIABLE_CHARACTERS) {
      throw refuse(`the variables take more than ${MAX_VARIABLE_CHARACTERS} characters`);
    }
    this.#values.set(name, value);
  }

  /** Sets all of them; each value is expanded with the variables as they were before. */
  setAll(variables: readonly (readonly [string, string])[], expand: (value: string) => string, refuse: Refuse): void {
    const added = new BuildVariables();
    for (const [name, value] of variables) added.set(name, expand(value), refuse);
    for (const [name, value] of added.#values) this.set(name, value, refuse);
  }
}

/**
 * Replaces `$NAME`, `${NAME}`, `${NAME:-default}` and `${NAME:+other}`, also without the colon; `\$` stands for `$`. What
 * `lookup` does not know is empty. Throws what `refuse` creates if the result is too long.
 */
export function expandVariables(text: string, lookup: (name: string) => string | undefined, refuse: Refuse): string {
  let added = 0;
  const bounded = (value: string): string => {
    added += value.length;
    if (added > MAX_TEXT_CHARACTERS) {
      throw refuse(`${text.slice(0, 40)} has more than ${MAX_TEXT_CHARACTERS} characters with its variables replaced`);
    }
    return value;
  };
  return text.replaceAll(
    VARIABLE,
    (whole, plain?: string, braced?: string, operator?: string, other?: string): string => {
      if (whole === '\\$') return '$';
      const value = lookup(plain ?? braced ?? '');
      const isSet = value !== undefined && (value !== '' || operator?.startsWith(':') !== true);
      if (operator?.endsWith('-') === true) return bounded(isSet ? value : (other ?? ''));
      if (operator?.endsWith('+') === true) return bounded(isSet ? (other ?? '') : '');
      return bounded(value ?? '');
    },
  );
}
