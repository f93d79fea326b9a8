import { isAppError } from '@svc/errors';
import { FairSlots } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import type { BuildDriver } from '../driver.ts';
import { newTemplateId } from '../identifiers.ts';
import type { ImageCatalog } from '../images/catalog.ts';
import { BuildLog } from './build-log.ts';
import { neededStages, shellCommand, type BuildPlan, type BuildStep } from './build-plan.ts';
import { BuildFault, BuildSandbox, type BuildSandboxDeps } from './build-sandbox.ts';
import { StageBuilder, type StageDeps, type StageImage, type StageResult } from './stage-builder.ts';
import type { TemplateFiles } from './template-files.ts';
import type { BuildFailure, BuildOutcome, TemplateBuild, TemplateLayer, TemplateRepository } from './template.ts';

const PARALLEL_BUILDS = 3;
/** The last slot serves other owners, however long these builds take. */
const PARALLEL_BUILDS_OF_OWNER = 2;
const PARALLEL_BUILDS_OF_WORKSPACE = 1;
/** The quota of builds is reached long before these. */
const MAX_WAITING = 4_096;
const MAX_WAITING_OF_OWNER = 1_024;
const READY_INTERVAL_MS = 500;
const READY_LIMIT_MS = 300_000;

export interface TemplateBuilderDeps extends Omit<BuildSandboxDeps, 'builds' | 'clock'> {
  readonly context: SandboxContext;
  readonly repository: TemplateRepository;
  readonly uploads: TemplateFiles;
  readonly catalog: ImageCatalog;
  /** The build that a name of the workspace refers to; null if no template has the name. */
  readonly resolve: (workspaceUuid: string, reference: string) => Promise<TemplateBuild | null>;
  /** Called when a build has new lines in its log, or ended. */
  readonly changed: (buildId: string) => void;
}

interface Running {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Runs builds in sandboxes, a few at a time. Each ends as `ready` or `error`, and leaves no sandbox. */
export class TemplateBuilder {
  readonly #deps: TemplateBuilderDeps;
  readonly #running = new Map<string, Running>();
  readonly #slots: FairSlots;

  constructor(deps: TemplateBuilderDeps) {
    this.#deps = deps;
    this.#slots = new FairSlots({
      capacity: PARALLEL_BUILDS,
      capacityPerKey: PARALLEL_BUILDS_OF_WORKSPACE,
      capacityPerGroup: PARALLEL_BUILDS_OF_OWNER,
      maxWaiting: MAX_WAITING,
      maxItemsPerGroup: MAX_WAITING_OF_OWNER,
      groupOf: deps.context.quotaLimits.shareOf,
      refuse: () => sandboxErrors.TEMPLATES_BUSY({ headers: { 'retry-after': '60' } }),
    });
  }

  /** Throws TEMPLATES_UNAVAILABLE if the driver cannot build. */
  driver(): BuildDriver {
    const { driver } = this.#deps.context;
    if (driver.builds !== undefined) return driver.builds;
    throw sandboxErrors.TEMPLATES_UNAVAILABLE({ details: { driver: driver.name } });
  }

  /** Starts a build, which must be `building`, in the background. */
  begin(build: TemplateBuild, plan: BuildPlan): void {
    const controller = new AbortController();
    const done = this.#build(build, plan, controller)
      .catch((error: unknown) => this.#deps.context.log.error({ err: error, build: build.id }, 'a build failed badly'))
      .finally(() => {
        this.#running.delete(build.id);
        this.#deps.changed(build.id);
      });
    this.#running.set(build.id, { controller, done });
  }

  get underWay(): number {
    return this.#running.size;
  }

  isRunning(buildId: string): boolean {
    return this.#running.has(buildId);
  }

  /** Ends a build that runs here. */
  async cancel(buildId: string, reason: string): Promise<void> {
    const running = this.#running.get(buildId);
    running?.controller.abort(new BuildFault(reason));
    await running?.done;
  }

  async close(): Promise<void> {
    const reason = 'The platform was stopped during the build; build again';
    await Promise.all([...this.#running.keys()].map((id) => this.cancel(id, reason)));
  }

  async #build(build: TemplateBuild, plan: BuildPlan, controller: AbortController): Promise<void> {
    const { context, repository, limitMs, changed } = this.#deps;
    const { clock } = context;
    const log = new BuildLog({ repository, buildId: build.id, clock, changed: () => changed(build.id) });
    const minutes = Math.round(limitMs / 60_000);
    const late = (): void => controller.abort(new BuildFault(`The build took longer than ${minutes} minutes`));
    const run = new BuildRun(this.#deps, this.driver(), build, plan, log, controller.signal);
    let cancelTimer: (() => void) | null = null;
    try {
      const work = async (): Promise<void> => {
        cancelTimer = clock.setTimer(late, limitMs);
        run.endsAtMs = clock.nowMs() + limitMs;
        const result = await run.run();
        log.write(`Built; steps: ${result.outcome.steps}, from the cache: ${result.outcome.cachedSteps}`);
        await log.flush();
        await repository.finishBuild(build.id, result, clock.now().toISOString());
        context.archives?.wake();
      };
      await this.#slots.run(build.workspaceUuid, work, controller.signal);
    } catch (error) {
      const failure = run.failureOf(controller.signal.aborted ? controller.signal.reason : error);
      context.log.warn({ err: error, build: build.id }, 'a build failed');
      log.write(failure.message, failure.step, 'error');
      await log.flush().catch((err: unknown) => context.log.warn({ err, build: build.id }, 'its log is incomplete'));
      await repository.failBuild(build.id, failure, clock.now().toISOString());
    } finally {
      (cancelTimer as (() => void) | null)?.();
    }
  }
}

/** One build under way. */
class BuildRun {
  endsAtMs = 0;
  readonly #deps: TemplateBuilderDeps;
  readonly #driver: BuildDriver;
  readonly #build: TemplateBuild;
  readonly #plan: BuildPlan;
  readonly #log: BuildLog;
  readonly #signal: AbortSignal;
  readonly #results = new Map<number, StageResult>();
  #steps = 0;
  #cachedSteps = 0;
  #entered: { readonly step: BuildStep; readonly number: number } | null = null;
  #number = -1;

  constructor(
    deps: TemplateBuilderDeps,
    driver: BuildDriver,
    build: TemplateBuild,
    plan: BuildPlan,
    log: BuildLog,
    signal: AbortSignal,
  ) {
    this.#deps = deps;
    this.#driver = driver;
    this.#build = build;
    this.#plan = plan;
    this.#log = log;
    this.#signal = signal;
  }

  async run(): Promise<{ outcome: BuildOutcome; layerId: string; digest: string }> {
    const { stages } = this.#plan;
    const needed = neededStages(this.#plan);
    for (const [index, stage] of stages.entries()) {
      if (!needed.has(index)) {
        this.#number += stage.steps.length;
        continue;
      }
      this.#log.write(`FROM ${typeof stage.from === 'number' ? `stage ${stage.from}` : stage.from}`);
      const base = await this.#imageOf(stage.from);
      const label = typeof stage.from === 'number' ? 'template-build' : stage.from;
      const builder = new StageBuilder(this.#stageDeps(), base, label);
      this.#results.set(index, await builder.run(stage.steps, index === 0 ? this.#plan.initial : null));
    }
    const last = this.#results.get(stages.length - 1);
    if (last === undefined) throw new BuildFault('the plan has no stage');
    return this.#finish(last);
  }

  /** Describes an error for the owner of the build. */
  failureOf(error: unknown): BuildFailure {
    const { step, number } = this.#entered ?? { step: null, number: null };
    const unknownUser = error instanceof BuildFault ? error.unknownUser : null;
    const place = { step: number, line: step?.line ?? null, unknownUser };
    if (error instanceof BuildFault || isAppError(error)) return { message: error.message.slice(0, 2000), ...place };
    return { message: 'The build failed on the platform; the operator finds the reason in its log', ...place };
  }

  async #finish(last: StageResult): Promise<{ outcome: BuildOutcome; layerId: string; digest: string }> {
    const inherited = await this.#inherited();
    const startCommand = this.#plan.startCommand ?? inherited?.startCommand ?? null;
    const readyCommand = this.#plan.readyCommand ?? inherited?.readyCommand ?? null;
    const { user, workingFolder } = last.settings;
    // Whatever the image of the base would run is run by the start command alone.
    const settings = { ...last.settings, entrypoint: [], command: [] };
    const layer = await this.#addLayer(`build ${this.#build.id}`, async (layerId) => ({
      // Another digest in each workspace: none learns from an archive that is there already what another one has built.
      digest: await this.#driver.configure(last.digest, layerId, settings, this.#build.workspaceUuid),
      sizeBytes: 0,
    }));
    if (startCommand !== null || readyCommand !== null) {
      await this.#checkReady(layer.digest, { user, workingFolder }, startCommand, readyCommand);
    }
    const counts = { cachedSteps: this.#cachedSteps, steps: this.#steps };
    const ports = [...new Set([...(inherited?.ports ?? []), ...last.ports])];
    const outcome = { user, workingFolder, startCommand, readyCommand, ports, ...counts };
    return { outcome, layerId: layer.id, digest: layer.digest };
  }

  /** What the template has that the last stage begins with. */
  async #inherited(): Promise<BuildOutcome | null> {
    let from: number | string | undefined = this.#plan.stages.length - 1;
    while (typeof from === 'number') from = this.#plan.stages[from]?.from;
    if (from === undefined) return null;
    return (await this.#deps.resolve(this.#build.workspaceUuid, from))?.outcome ?? null;
  }

  /** Starts the command in a sandbox of the finished image and waits for the check. */
  async #checkReady(
    digest: string,
    { user, workingFolder }: { user: string | null; workingFolder: string | null },
    startCommand: readonly string[] | null,
    readyCommand: string | null,
  ): Promise<void> {
    const { clock } = this.#deps.context;
    const sandbox = this.#newSandbox();
    const place = { env: {}, cwd: workingFolder, user };
    const step = this.#number + 1;
    const ended = new AbortController();
    const stop = AbortSignal.any([this.#signal, ended.signal]);
    try {
      await sandbox.continueFrom(digest, 'template-build', false);
      this.#log.write(`START ${startCommand?.join(' ') ?? '(nothing)'}`);
      let code: number | null = null;
      const started =
        startCommand === null
          ? Promise.resolve()
          : sandbox.run({ ...place, argv: startCommand, timeoutMs: this.#leftMs() }, step, stop).then(
              (exitCode) => void (code = exitCode),
              (error: unknown) => {
                if (!stop.aborted) throw error;
              },
            );
      const untilMs = Math.min(clock.nowMs() + READY_LIMIT_MS, this.endsAtMs);
      const check = async (): Promise<void> => {
        if (readyCommand === null) return;
        this.#log.write(`READY ${readyCommand}`);
        while (
          (await sandbox.run({ ...place, argv: shellCommand(readyCommand), timeoutMs: this.#leftMs() }, step)) !== 0
        ) {
          if (clock.nowMs() > untilMs) throw new BuildFault('the ready check did not succeed in time');
          await this.#sleep(READY_INTERVAL_MS);
        }
      };
      // A start command that cannot run, or fails, ends the wait for the check.
      const failed = started.then(() => {
        if (code !== null && code !== 0) throw new BuildFault(`the start command ended with exit code ${code}`);
        return new Promise<never>(() => undefined);
      });
      failed.catch(() => undefined); // it may fail after the check
      await Promise.race([check(), failed]);
      ended.abort();
      await started;
    } finally {
      ended.abort();
      await sandbox.dispose();
    }
  }

  #stageDeps(): StageDeps {
    const { context, repository, uploads } = this.#deps;
    const { workspaceUuid, node } = this.#build;
    return {
      build: this.#build,
      plan: this.#plan,
      log: this.#log,
      files: uploads,
      signal: this.#signal,
      newSandbox: () => this.#newSandbox(),
      leftMs: () => this.#leftMs(),
      findLayer: async (cacheKey) => {
        const at = context.clock.now().toISOString();
        const layer = await repository.findLayer(workspaceUuid, node, cacheKey, at);
        return layer === null || (await this.#driver.find(layer.digest)) === null ? null : layer;
      },
      addLayer: (cacheKey, make) => this.#addLayer(cacheKey, make),
      imageOf: (from) => this.#imageOf(from),
      entered: (step) => {
        if (step !== null) this.#number += 1;
        this.#entered = step === null ? null : { step, number: this.#number };
        return this.#number;
      },
      counted: (wasCached) => {
        this.#steps += 1;
        if (wasCached) this.#cachedSteps += 1;
      },
    };
  }

  /** Its record comes last: a layer without one is removed by the next sweep. */
  async #addLayer(
    cacheKey: string,
    make: (layerId: string) => Promise<{ digest: string; sizeBytes: number }>,
  ): Promise<TemplateLayer> {
    const { context, repository } = this.#deps;
    const { workspaceUuid, node } = this.#build;
    const id = newTemplateId(context.random.bytes);
    try {
      const made = await make(id);
      const createdAt = context.clock.now().toISOString();
      const layer = { id, workspaceUuid, node, cacheKey, createdAt, ...made };
      await repository.insertLayer(layer, await context.quotaLimits.readLimits(workspaceUuid));
      return layer;
    } catch (error) {
      await this.#driver.remove(id);
      throw error;
    }
  }

  async #imageOf(from: number | string): Promise<StageImage> {
    if (typeof from === 'number') {
      const result = this.#results.get(from);
      if (result === undefined) throw new BuildFault(`stage ${from} was not built`);
      return result;
    }
    const { resolve, catalog } = this.#deps;
    const built = await resolve(this.#build.workspaceUuid, from);
    if (built !== null) return this.#imageOfTemplate(built, from);
    const name = catalog.findReference(from);
    if (name !== null) return this.#driver.base(name, this.#signal);
    throw new BuildFault(
      `${from} is neither an image of the catalog nor a template of this workspace; an operator can add it to sandboxes.images`,
    );
  }

  async #imageOfTemplate({ digest, node }: TemplateBuild, from: string): Promise<StageImage> {
    const { archives } = this.#deps.context;
    if (digest === null) throw new BuildFault(`the template ${from} has no image; build it again`);
    if (archives !== null) await archives.images.provide(digest, this.#build.workspaceUuid, this.#signal);
    const image = await this.#driver.find(digest);
    if (image !== null) return image;
    if (node === this.#build.node) throw new BuildFault(`the image of the template ${from} is gone; build it again`);
    throw new BuildFault(
      archives === null
        ? `the template ${from} is on node ${node}; build it on this one, too`
        : `the template ${from} is on node ${node} and not archived yet; try again later`,
    );
  }

  #newSandbox(): BuildSandbox {
    const { context } = this.#deps;
    const deps = { ...this.#deps, builds: this.#driver, clock: context.clock };
    return new BuildSandbox(deps, this.#build, this.#log, this.#signal);
  }

  #leftMs(): number {
    return Math.max(1, this.endsAtMs - this.#deps.context.clock.nowMs());
  }

  async #sleep(delayMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#deps.context.clock.setTimer(resolve, delayMs);
    this.#signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    cancel();
    this.#signal.throwIfAborted();
  }
}
