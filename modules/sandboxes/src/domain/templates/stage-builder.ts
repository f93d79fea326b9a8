import { createHash } from 'node:crypto';
import { USUAL_PATH, type ImageSettings } from '../images/image-settings.ts';
import type { BuildLog } from './build-log.ts';
import {
  BuildVariables,
  expandVariables,
  type BuildPlan,
  type BuildStep,
  type CopyStep,
  type Refuse,
} from './build-plan.ts';
import { BuildFault, resolvePath, type BuildSandbox } from './build-sandbox.ts';
import { matchSources, ownerArgument, PLACE_SCRIPT, stageArchive, stageFrom, STAGING } from './copy-files.ts';
import type { TemplateFiles } from './template-files.ts';
import type { TemplateBuild, TemplateLayer } from './template.ts';

/** An image that a stage begins with, or that one made. */
export interface StageImage {
  readonly digest: string;
  readonly settings: ImageSettings;
}

export interface StageResult extends StageImage {
  readonly ports: readonly number[];
}

export interface StageDeps {
  readonly build: TemplateBuild;
  readonly plan: BuildPlan;
  readonly log: BuildLog;
  readonly files: TemplateFiles;
  readonly signal: AbortSignal;
  /** Creates the sandbox of a stage; removed with the stage. */
  readonly newSandbox: () => BuildSandbox;
  /** Time left for the build. */
  readonly leftMs: () => number;
  readonly findLayer: (cacheKey: string) => Promise<TemplateLayer | null>;
  /** Records what `make` makes as the layer of a key. Throws QUOTA_EXCEEDED. */
  readonly addLayer: (
    cacheKey: string,
    make: (layerId: string) => Promise<{ digest: string; sizeBytes: number }>,
  ) => Promise<TemplateLayer>;
  /** The image that a COPY or FROM names: of another stage, a template or the catalog. */
  readonly imageOf: (from: number | string) => Promise<StageImage>;
  /** Notes the step under way, for the reason of a failure. */
  readonly entered: (step: BuildStep | null) => number;
  readonly counted: (wasCached: boolean) => void;
}

/** Runs the steps of one stage, taking from the cache what it knows. */
export class StageBuilder {
  readonly #deps: StageDeps;
  readonly #sandbox: BuildSandbox;
  readonly #label: string;
  readonly #environment = new BuildVariables();
  readonly #args = new BuildVariables();
  readonly #ports = new Set<number>();
  readonly #base: StageImage;
  #digest: string;
  #user: string | null;
  #folder: string;
  #isForced: boolean;
  #step = 0;

  constructor(deps: StageDeps, base: StageImage, label: string) {
    this.#deps = deps;
    this.#sandbox = deps.newSandbox();
    this.#label = label;
    this.#base = base;
    this.#digest = base.digest;
    this.#isForced = deps.plan.noCache;
    this.#user = base.settings.user;
    this.#folder = base.settings.workingFolder ?? '/';
    const given = { PATH: USUAL_PATH, ...base.settings.environment };
    for (const [name, value] of Object.entries(given)) this.#environment.set(name, value, refuse);
  }

  /** `initial`: user and folder to begin with, which are created if they are missing. */
  async run(steps: readonly BuildStep[], initial: BuildPlan['initial']): Promise<StageResult> {
    try {
      if (initial !== null) await this.#begin(initial);
      for (const step of steps) {
        this.#deps.signal.throwIfAborted();
        this.#step = this.#deps.entered(step);
        if (step.force) this.#isForced = true;
        await this.#take(step);
      }
      this.#deps.entered(null);
    } finally {
      await this.#sandbox.dispose();
    }
    const environment = Object.fromEntries(this.#environment.entries());
    const settings = { ...this.#base.settings, environment, workingFolder: this.#folder, user: this.#user };
    return { digest: this.#digest, settings, ports: [...this.#ports] };
  }

  async #begin({ user, workingFolder }: NonNullable<BuildPlan['initial']>): Promise<void> {
    await this.#change(['user', user], null, async () => (await this.#sandbox.files()).ensureUser(user));
    this.#user = user;
    this.#folder = workingFolder;
  }

  async #take(step: BuildStep): Promise<void> {
    const expand = (text: string): string =>
      step.expand ? expandVariables(text, (name) => this.#args.get(name) ?? this.#environment.get(name), refuse) : text;
    switch (step.kind) {
      case 'env':
        return this.#environment.setAll(step.variables, expand, refuse);
      case 'arg': {
        const value = this.#deps.plan.args[step.name] ?? (step.value === null ? null : expand(step.value));
        if (value !== null) this.#args.set(step.name, value, refuse);
        return;
      }
      case 'user':
        this.#user = expand(step.name).split(':')[0] ?? null;
        return;
      case 'expose':
        for (const port of step.ports) this.#ports.add(parsePort(expand(port)));
        return;
      case 'workdir':
        return this.#workdir(expand(step.path), step);
      case 'run':
        return this.#run(step);
      case 'copy':
        return this.#copy(step, {
          ...step,
          destination: expand(step.destination),
          owner: step.owner && expand(step.owner),
        });
    }
  }

  async #workdir(path: string, step: BuildStep): Promise<void> {
    const folder = resolvePath(this.#folder, path).replace(/(?<=.)\/$/, '');
    const owner = this.#deps.plan.initial === null ? null : this.#user;
    await this.#change(['workdir', folder, owner], step, async () => {
      const files = await this.#sandbox.files();
      await (owner === null ? files : await files.asUser(owner)).makeDirectory(folder, { parents: true });
    });
    this.#folder = folder;
  }

  async #run(step: Extract<BuildStep, { kind: 'run' }>): Promise<void> {
    const user = step.user ?? this.#user;
    const key = ['run', step.argv, user, this.#folder, this.#variables()];
    await this.#change(key, step, async () => {
      const code = await this.#sandbox.run(
        { argv: step.argv, env: this.#variables(), cwd: this.#folder, user, timeoutMs: this.#deps.leftMs() },
        this.#step,
      );
      if (code !== 0) throw new BuildFault(`${step.text.slice(0, 200)}: exit code ${code}`);
    });
  }

  async #copy(step: BuildStep, copy: CopyStep): Promise<void> {
    const { build, files: store } = this.#deps;
    const { sources, mode, owner, from, files: name } = copy;
    const destination = resolvePath(this.#folder, copy.destination);
    const source = from === null ? null : await this.#deps.imageOf(from);
    const key = ['copy', sources, destination, owner, mode, source?.digest ?? null, name];
    await this.#change(key, step, async () => {
      const files = await this.#sandbox.files();
      await files.makeDirectory(STAGING, { parents: true });
      let found: readonly string[];
      if (source === null) {
        const archive = name === null ? null : await store.open(build.workspaceUuid, name);
        if (archive === null) throw new BuildFault(`${step.text.slice(0, 200)}: its files were not uploaded`);
        await stageArchive(files, archive);
        found = await matchSources(files, STAGING, sources);
      } else {
        found = await this.#fromImage(source, sources);
      }
      await this.#place(found, destination, owner ?? (source === null ? 'root' : null), mode);
    });
  }

  async #fromImage(image: StageImage, sources: readonly string[]): Promise<readonly string[]> {
    const other = this.#deps.newSandbox();
    try {
      await other.continueFrom(image.digest, this.#label, false);
      return await stageFrom(await other.files(), await this.#sandbox.files(), sources);
    } finally {
      await other.dispose();
    }
  }

  async #place(found: readonly string[], destination: string, owner: string | null, mode: string | null) {
    const sources = found.map((path) => (path === '' ? STAGING : `${STAGING}/${path}`));
    const owned = owner === null ? '' : owner === 'root' ? '0:0' : ownerArgument(owner);
    const argv = ['/bin/sh', '-c', PLACE_SCRIPT, 'copy', STAGING, destination, owned, mode ?? '', ...sources];
    const command = { argv, env: {}, cwd: '/', user: null, timeoutMs: this.#deps.leftMs() };
    const code = await this.#sandbox.run(command, this.#step);
    if (code === 127) throw new BuildFault('COPY needs a shell and cp in the image');
    if (code !== 0) throw new BuildFault('the files could not be copied');
  }

  /** Does something that changes files, or takes its result from the cache. */
  async #change(key: unknown, step: BuildStep | null, work: () => Promise<void>): Promise<void> {
    const { log, findLayer, addLayer, counted } = this.#deps;
    const cacheKey = createHash('sha256')
      .update(JSON.stringify([this.#digest, key]))
      .digest('hex');
    const known = this.#isForced ? null : await findLayer(cacheKey);
    if (step !== null) log.write(`${known === null ? '' : 'CACHED '}${step.text}`, this.#step);
    if (known === null) {
      await this.#sandbox.continueFrom(this.#digest, this.#label);
      await work();
      this.#digest = (await addLayer(cacheKey, (layerId) => this.#sandbox.commit(layerId))).digest;
    } else {
      this.#digest = known.digest;
    }
    if (step !== null) counted(known !== null);
  }

  /** Variables of commands; those of the image are in its settings, or were replaced by the stage. */
  #variables(): Record<string, string> {
    return Object.fromEntries(
      [...this.#args.entries(), ...this.#environment.entries()].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
  }
}

const refuse: Refuse = (reason) => new BuildFault(reason);

function parsePort(text: string): number {
  const port = /^(\d{1,5})(?:\/(?:tcp|udp))?$/i.exec(text)?.[1];
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new BuildFault(`${text.slice(0, 40)} is not a port`);
  return Number(port);
}
