import {
  BuildVariables,
  expandVariables,
  MAX_STAGES,
  MAX_STEPS,
  shellCommand,
  type BuildPlan,
  type BuildStage,
  type BuildStep,
  type Refuse,
} from './build-plan.ts';
import { dockerfileError, parseExecForm, readInstructions, splitWords, type Instruction } from './dockerfile-lines.ts';

interface OpenStage {
  readonly name: string | null;
  readonly from: number | string;
  readonly line: number;
  readonly steps: BuildStep[];
  /** Values known without the image, for the sources of COPY. */
  readonly known: BuildVariables;
  entrypoint: readonly string[] | null;
  command: readonly string[] | null;
  health: string | null;
}

/** Instructions of Docker that builds do not run, with what to do instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['ADD', 'use COPY, or RUN with curl or tar'],
  ['LABEL', 'remove it; templates have no labels'],
  ['MAINTAINER', 'remove it'],
  ['ONBUILD', 'write its instruction where it is needed'],
  ['SHELL', 'call the shell in RUN, as in RUN bash -c "…"'],
  ['STOPSIGNAL', 'remove it; a sandbox ends its processes with SIGTERM'],
  ['VOLUME', 'remove it; files of a sandbox stay with it'],
]);

/** Of a COPY or EXPOSE. */
const MAX_WORDS = 1001;
const MAX_PATH_CHARACTERS = 4096;

const FLAGS: Readonly<Record<string, readonly string[]>> = {
  COPY: ['from', 'chown', 'chmod'],
  HEALTHCHECK: ['interval', 'timeout', 'start-period', 'start-interval', 'retries'],
};

/** Translates a Dockerfile. Throws DOCKERFILE_REFUSED with the line of what is wrong or not supported. */
export function parseDockerfile(
  text: string,
  options: { readonly args: Readonly<Record<string, string>>; readonly target: string | null },
): Pick<BuildPlan, 'stages' | 'startCommand' | 'readyCommand'> {
  const reader = new DockerfileReader(options.args);
  for (const instruction of readInstructions(text)) reader.read(instruction);
  return reader.finish(options.target);
}

class DockerfileReader {
  readonly #args: Readonly<Record<string, string>>;
  /** ARG before the first FROM. */
  readonly #global = new BuildVariables();
  readonly #stages: OpenStage[] = [];
  #steps = 0;

  constructor(args: Readonly<Record<string, string>>) {
    this.#args = args;
  }

  read(instruction: Instruction): void {
    const { name, line, flags, rest } = instruction;
    const remedy = REFUSED.get(name);
    if (remedy !== undefined) throw dockerfileError(line, `${name} is not supported; ${remedy}`);
    const flag = flags.find((each) => FLAGS[name]?.includes(each.name) !== true);
    if (flag !== undefined) throw dockerfileError(line, `${name} --${flag.name} is not supported`);
    if (/<<-?["']?[A-Za-z_]/.test(rest) && (name === 'RUN' || name === 'COPY')) {
      throw dockerfileError(line, `${name} with a here-document is not supported; copy a file`);
    }
    if (name === 'FROM') return this.#from(instruction);
    const stage = this.#stages.at(-1);
    if (stage === undefined) return this.#beforeFrom(instruction);
    this.#inStage(stage, instruction);
  }

  finish(target: string | null): Pick<BuildPlan, 'stages' | 'startCommand' | 'readyCommand'> {
    const last = target === null ? this.#stages.length - 1 : this.#stages.findIndex(({ name }) => name === target);
    const stage = this.#stages[last];
    if (stage === undefined) {
      throw dockerfileError(1, target === null ? 'it has no FROM' : `there is no stage ${target}`);
    }
    const command = stage.entrypoint === null ? stage.command : [...stage.entrypoint, ...(stage.command ?? [])];
    const stages: BuildStage[] = this.#stages
      .slice(0, last + 1)
      .map(({ name, from, line, steps }) => ({ name, from, line, steps }));
    return { stages, startCommand: command, readyCommand: stage.health };
  }

  #beforeFrom({ name, rest, line }: Instruction): void {
    if (name !== 'ARG') throw dockerfileError(line, `${name} comes before the first FROM`);
    for (const [key, value] of argumentsOf(rest, line)) {
      const given = this.#args[key] ?? (value === null ? undefined : this.#expandGlobal(value, line));
      if (given !== undefined) this.#global.set(key, given, refusal(line));
    }
  }

  #from({ rest, line }: Instruction): void {
    const [given = '', as, stageName, ...more] = splitWords(rest, line);
    if (given === '' || more.length > 0 || (as !== undefined && as.toUpperCase() !== 'AS') || (as && !stageName)) {
      throw dockerfileError(line, 'FROM takes an image, and AS with a name');
    }
    if (this.#stages.length === MAX_STAGES) throw dockerfileError(line, `there are more than ${MAX_STAGES} stages`);
    const base = this.#expandGlobal(given, line);
    if (base === '') throw dockerfileError(line, `${given} is empty; give the ARG a default or pass its value`);
    const name = stageName?.toLowerCase() ?? null;
    if (name !== null && !/^[a-z][a-z0-9._-]{0,127}$/.test(name)) {
      throw dockerfileError(line, `${stageName ?? ''} is not a valid stage name`);
    }
    this.#stages.push({
      name,
      from: this.#stageNamed(base) ?? base,
      line,
      steps: [],
      known: new BuildVariables(),
      entrypoint: null,
      command: null,
      health: null,
    });
  }

  #inStage(stage: OpenStage, instruction: Instruction): void {
    const { name, rest, line } = instruction;
    const exec = (): readonly string[] => parseExecForm(rest, line) ?? shellCommand(required(rest, name, line));
    switch (name) {
      case 'RUN':
        return this.#add(stage, instruction, { kind: 'run', argv: exec(), user: null });
      case 'COPY':
        return this.#copy(stage, instruction);
      case 'ENV':
        return this.#env(stage, instruction);
      case 'ARG':
        return this.#arg(stage, instruction);
      case 'WORKDIR':
        return this.#add(stage, instruction, { kind: 'workdir', path: oneWord(rest, name, line) });
      case 'USER':
        return this.#add(stage, instruction, { kind: 'user', name: oneWord(rest, name, line) });
      case 'EXPOSE':
        return this.#add(stage, instruction, { kind: 'expose', ports: splitWords(rest, line).slice(0, MAX_WORDS) });
      case 'ENTRYPOINT':
        stage.entrypoint = exec();
        stage.command = null; // a CMD before it belonged to another one
        return;
      case 'CMD':
        stage.command = stage.entrypoint === null ? exec() : (parseExecForm(rest, line) ?? [rest]);
        return;
      case 'HEALTHCHECK':
        stage.health = healthCommand(rest, line);
        return;
      default:
        throw dockerfileError(line, `${name} is no instruction of a Dockerfile`);
    }
  }

  #copy(stage: OpenStage, instruction: Instruction): void {
    const { flags, rest, line } = instruction;
    const words = parseExecForm(rest, line) ?? splitWords(rest, line);
    const destination = words.at(-1);
    if (words.length < 2 || destination === undefined) {
      throw dockerfileError(line, 'COPY takes one or more sources and a destination');
    }
    if (words.length > MAX_WORDS) throw dockerfileError(line, `COPY takes at most ${MAX_WORDS - 1} sources`);
    const flag = (name: string): string | null => flags.find((each) => each.name === name)?.value ?? null;
    const from = flag('from');
    const mode = flag('chmod');
    if (mode !== null && !/^0?[0-7]{3,4}$/.test(mode)) {
      throw dockerfileError(line, '--chmod takes an octal mode such as 755');
    }
    const sources = words.slice(0, -1).map((word) => this.#source(stage, word, line));
    this.#add(stage, instruction, {
      kind: 'copy',
      sources: from === null ? sources.map((source) => insideContext(source, line)) : sources,
      destination,
      owner: flag('chown'),
      mode,
      from: from === null ? null : (this.#stageNamed(from) ?? this.#stageNumbered(from, line) ?? from),
      files: null,
    });
  }

  /** The client has to know which files to send, before the image is there. */
  #source(stage: OpenStage, word: string, line: number): string {
    const lookup = (name: string): string => {
      const value = stage.known.get(name);
      if (value === undefined) throw dockerfileError(line, `$${name} in a source of COPY is set by no ARG or ENV`);
      return value;
    };
    const source = expandVariables(word, lookup, refusal(line));
    if (source.length > MAX_PATH_CHARACTERS) {
      throw dockerfileError(line, `a source of COPY has more than ${MAX_PATH_CHARACTERS} characters`);
    }
    return source;
  }

  #env(stage: OpenStage, instruction: Instruction): void {
    const { rest, line } = instruction;
    const variables = assignmentsOf(rest, line);
    this.#add(stage, instruction, { kind: 'env', variables });
    stage.known.setAll(variables, (value) => expandKnown(stage, value, line), refusal(line));
  }

  #arg(stage: OpenStage, instruction: Instruction): void {
    const { rest, line } = instruction;
    for (const [name, given] of argumentsOf(rest, line)) {
      const value = this.#args[name] ?? given ?? this.#global.get(name) ?? null;
      this.#add(stage, instruction, { kind: 'arg', name, value });
      if (value !== null) stage.known.set(name, expandKnown(stage, value, line), refusal(line));
    }
  }

  #add(stage: OpenStage, { name, flags, line, rest }: Instruction, step: StepContent): void {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) throw dockerfileError(line, `there are more than ${MAX_STEPS} steps`);
    const written = flags.map((flag) => ` --${flag.name}=${flag.value ?? ''}`).join('');
    stage.steps.push({ ...step, text: `${name}${written} ${rest}`, line, expand: true, force: false });
  }

  #stageNamed(name: string): number | null {
    const index = this.#stages.findIndex((stage) => stage.name === name.toLowerCase());
    return index === -1 ? null : index;
  }

  #stageNumbered(text: string, line: number): number | null {
    if (!/^\d+$/.test(text)) return null;
    if (Number(text) >= this.#stages.length - 1)
      throw dockerfileError(line, `there is no stage ${text} before this one`);
    return Number(text);
  }

  #expandGlobal(text: string, line: number): string {
    return expandVariables(text, (name) => this.#global.get(name), refusal(line));
  }
}

function expandKnown({ known }: OpenStage, text: string, line: number): string {
  return expandVariables(text, (name) => known.get(name), refusal(line));
}

function refusal(line: number): Refuse {
  return (reason) => dockerfileError(line, reason);
}

type StepContent = BuildStep extends infer Step
  ? Step extends BuildStep
    ? Omit<Step, 'text' | 'line' | 'expand' | 'force'>
    : never
  : never;

/** `NAME=value …`, or the older `NAME value`. */
function assignmentsOf(text: string, line: number): [string, string][] {
  const older = text.includes('=') ? null : /^([A-Za-z_][A-Za-z0-9_]*)\s(.*)$/s.exec(text);
  if (older !== null) return [[older[1] ?? '', (older[2] ?? '').trim()]];
  const words = splitWords(text, line);
  if (words.length === 0) throw dockerfileError(line, 'ENV takes NAME=value');
  return words.map((word) => {
    const match = /^([A-Za-z_][A-Za-z0-9_.-]*)=([\s\S]*)$/.exec(word);
    if (match === null) throw dockerfileError(line, `${word.slice(0, 40)} is not of the form NAME=value`);
    return [match[1] ?? '', match[2] ?? ''];
  });
}

function argumentsOf(text: string, line: number): [string, string | null][] {
  const words = splitWords(text, line);
  if (words.length === 0) throw dockerfileError(line, 'ARG takes a name');
  return words.map((word) => {
    const match = /^([A-Za-z_][A-Za-z0-9_]*)(?:=([\s\S]*))?$/.exec(word);
    if (match === null) throw dockerfileError(line, `${word.slice(0, 40)} is not a valid argument name`);
    return [match[1] ?? '', match[2] ?? null];
  });
}

function healthCommand(text: string, line: number): string | null {
  if (/^NONE$/i.test(text.trim())) return null;
  const match = /^CMD\s+([\s\S]+)$/i.exec(text);
  if (match === null) throw dockerfileError(line, 'HEALTHCHECK takes CMD with a command, or NONE');
  const exec = parseExecForm(match[1] ?? '', line);
  return exec === null ? (match[1] ?? '') : exec.map(quoteForShell).join(' ');
}

function quoteForShell(word: string): string {
  return /^[A-Za-z0-9_./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function required(text: string, name: string, line: number): string {
  if (text.trim() === '') throw dockerfileError(line, `${name} takes a command`);
  return text;
}

function oneWord(text: string, name: string, line: number): string {
  const words = splitWords(text, line);
  if (words.length !== 1 || words[0] === undefined || words[0] === '') {
    throw dockerfileError(line, `${name} takes one value`);
  }
  return words[0];
}

/** A source relative to the context, without `..` that leaves it. */
function insideContext(source: string, line: number): string {
  const parts: string[] = [];
  for (const part of source.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) throw dockerfileError(line, `${source} lies outside of the context`);
  }
  return parts.length === 0 ? '.' : parts.join('/');
}
