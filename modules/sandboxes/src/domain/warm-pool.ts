import { BackgroundLoop, type Clock, type Random } from '@svc/runtime';
import type { SandboxDriver, SandboxSpec } from './driver.ts';
import type { Logger } from '@svc/telemetry';
import { hostnameOf, newName, newSandboxId } from './identifiers.ts';
import { ImagePool, type ImagePoolFigures, type WarmPlan, type WarmSandbox } from './image-pool.ts';

const TICK_MS = 1000;
/** After a claim, its own create request and first prompt have priority. */
const REFILL_DELAY_MS = 100;
const FILL_LIMIT_MS = 100_000;

export interface WarmPoolOptions {
  readonly driver: SandboxDriver;
  readonly plans: readonly WarmPlan[];
  /** Spec of a create request without options; called once the driver is open. */
  readonly defaults: () => Pick<SandboxSpec, 'resources' | 'network' | 'isolation'>;
  /** The catalog's name of an image, or null. */
  readonly imageName: (nameOrAlias: string) => string | null;
  /** Whether creates without a warm sandbox are in progress; they have priority. */
  readonly isBusy: () => boolean;
  /** Whether unused sandboxes are not wanted: the machine lacks memory for them, or is drained. */
  readonly isUnwanted: () => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Sandboxes started ahead of requests; a create request takes one over with its id. They are unused and have no record,
 * so that the next start removes what a crash leaves. A sandbox that was changed is never returned to the pool.
 */
export class WarmPool {
  readonly #options: WarmPoolOptions;
  readonly #imagePools: ReadonlyMap<string, ImagePool>;
  readonly #stopped = new AbortController();
  readonly #loop: BackgroundLoop;
  #cancelRefill: (() => void) | null = null;
  #filling: Promise<void> | null = null;
  readonly #discards = new Set<Promise<void>>();

  constructor(options: WarmPoolOptions) {
    this.#options = options;
    this.#imagePools = new Map(options.plans.map((plan) => [plan.image, new ImagePool(plan)]));
    this.#loop = new BackgroundLoop({
      run: async () => this.#tick(),
      intervalMs: TICK_MS,
      onError: (error) => options.log.error({ err: error }, 'the warm pool could not be adjusted'),
      clock: options.clock,
    });
  }

  start(): void {
    if (this.#imagePools.size === 0 || this.#stopped.signal.aborted) return;
    this.#refill(0);
    this.#loop.start();
  }

  /**
   * Takes a sandbox that can be adjusted to the wish, or null. The caller owns it from then on, and either gives it
   * back unchanged or discards it. The hostname is null if none was requested.
   */
  take(wish: Omit<SandboxSpec, 'id' | 'hostname'> & { readonly hostname: string | null }): WarmSandbox | null {
    if (this.#imagePools.size === 0) return null;
    const imagePool = this.#imagePools.get(this.#options.imageName(wish.image) ?? '');
    if (imagePool === undefined || this.#stopped.signal.aborted) return null;
    // With gVisor, limits and hostname belong to its own kernel and cannot be set from outside.
    const adjustable = this.#options.driver.adjust !== undefined && wish.isolation === 'namespaces';
    const taken = imagePool.take((warm) => couldBecome(warm.spec, wish) && (adjustable || isAlready(warm.spec, wish)));
    this.#refill(REFILL_DELAY_MS);
    return taken;
  }

  /** Whether nothing has to be adjusted. */
  isFit(warm: WarmSandbox, spec: SandboxSpec): boolean {
    return isAlready(warm.spec, spec);
  }

  release(warm: WarmSandbox): void {
    if (this.#stopped.signal.aborted || warm.connection.lost) this.discard(warm);
    else this.#imagePools.get(warm.spec.image)?.put(warm);
  }

  discard(warm: WarmSandbox): void {
    const { driver, log } = this.#options;
    const { id } = warm.spec;
    const work = warm.connection
      .close()
      .then(() => driver.remove(id))
      .catch((error: unknown) => log.error({ err: error, sandbox: id }, 'a warm sandbox could not be removed'))
      .finally(() => this.#discards.delete(work));
    this.#discards.add(work);
  }

  figures(): ImagePoolFigures[] {
    return [...this.#imagePools.values()].map((imagePool) => imagePool.figures());
  }

  /** Removes all waiting sandboxes. */
  async close(): Promise<void> {
    this.#stopped.abort(new Error('the platform is shutting down'));
    this.#cancelRefill?.();
    await this.#loop.close();
    await this.#filling;
    for (const imagePool of this.#imagePools.values()) this.#empty(imagePool, () => true);
    await Promise.all(this.#discards);
  }

  #tick(): void {
    const usable = !this.#options.isUnwanted();
    for (const imagePool of this.#imagePools.values()) imagePool.tick(usable);
    this.#refill(0);
  }

  #refill(delayMs: number): void {
    if (this.#stopped.signal.aborted || this.#filling !== null || this.#cancelRefill !== null) return;
    this.#cancelRefill = this.#options.clock.setTimer(() => {
      this.#cancelRefill = null;
      this.#filling = this.#fill().finally(() => (this.#filling = null));
    }, delayMs);
  }

  /** Fills one at a time, because pending create requests have priority. */
  async #fill(): Promise<void> {
    const { log, clock, isBusy } = this.#options;
    for (const imagePool of this.#imagePools.values()) {
      try {
        await this.#fillImagePool(imagePool);
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        imagePool.failed(clock.nowMs());
        log.warn({ err: error, image: imagePool.plan.image }, 'the warm pool could not be filled');
      }
      if (isBusy()) return;
    }
  }

  async #fillImagePool(imagePool: ImagePool): Promise<void> {
    const { clock, isBusy } = this.#options;
    const nowMs = (): number => clock.nowMs();
    const version = await this.#imageVersion(imagePool.plan.image);
    this.#empty(imagePool, (warm) => warm.version !== version);
    while (imagePool.all().length > imagePool.target) this.#empty(imagePool, (warm) => warm === imagePool.all()[0]);
    while (imagePool.needsMore(nowMs()) && !isBusy() && !this.#stopped.signal.aborted) {
      const begunMs = performance.now();
      const warm = await this.#make(imagePool.plan.image);
      imagePool.filled((performance.now() - begunMs) / 1000);
      imagePool.put(warm);
      void warm.connection.closed.then(() => {
        if (imagePool.remove(warm)) this.discard(warm); // it died while waiting
      });
    }
  }

  async #make(image: string): Promise<WarmSandbox> {
    const { driver, random, defaults } = this.#options;
    const name = newName(random.bytes);
    const spec = { ...defaults(), image, id: newSandboxId(random.bytes), hostname: hostnameOf(name) };
    const limit = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(FILL_LIMIT_MS)]);
    try {
      await driver.create(spec, limit);
      const version = await this.#imageVersion(image);
      if (version === null) throw new Error('the image was removed');
      await driver.start(spec, limit);
      return { spec, name, version, connection: await driver.connect(spec.id, limit) };
    } catch (error) {
      await driver.remove(spec.id);
      throw error;
    }
  }

  async #imageVersion(image: string): Promise<string | null> {
    const { driver } = this.#options;
    return driver.imageVersion === undefined ? '' : driver.imageVersion(image);
  }

  #empty(imagePool: ImagePool, which: (warm: WarmSandbox) => boolean): void {
    for (const warm of imagePool.all().filter(which)) {
      imagePool.remove(warm);
      this.discard(warm);
    }
  }
}

type Wish = Omit<SandboxSpec, 'id' | 'hostname'> & { readonly hostname: string | null };

/**
 * Limits and hostname can be changed on a running sandbox; all other fields, including ones unknown here, must match.
 */
function couldBecome(spec: SandboxSpec, wish: Wish): boolean {
  const fixed = ({ image: _image, ...rest }: Omit<SandboxSpec, 'id' | 'hostname'>, disk: number): string => {
    const { cpuMillis: _cpu, memoryMb: _memory, pids: _pids, ...resources } = rest.resources;
    return canonical({ ...rest, id: null, hostname: null, resources, disk });
  };
  return fixed(spec, spec.resources.diskMb) === fixed(wish, wish.resources.diskMb);
}

function isAlready(spec: SandboxSpec, wish: Wish): boolean {
  return (
    (wish.hostname === null || wish.hostname === spec.hostname) &&
    canonical(spec.resources) === canonical(wish.resources)
  );
}

/** Omits absent fields. */
function canonical(value: object): string {
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return JSON.stringify(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
