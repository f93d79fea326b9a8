import { isAppError } from '@svc/errors';
import type { SandboxContext } from '../context.ts';
import type { SandboxNodes } from '../ports.ts';
import type { SandboxService } from '../sandbox-service.ts';
import type { TemplateFiles } from './template-files.ts';
import type { TemplateRepository } from './template.ts';

/** Builds of a template that are kept without a tag. */
export const KEPT_BUILDS = 20;
/** The place of a failure outside of the steps. */
export const NO_PLACE = { step: null, line: null, unknownUser: null };
/** A build that was requested and not started. */
const WAITING_MS = 3_600_000;
/** A build without a tag, so that its creator can give it one. */
const UNTAGGED_MS = 3_600_000;
/** A node that is silent for this long has ended, or returns to find its builds ended. */
const LOST_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface TemplateSweeperDeps {
  readonly context: SandboxContext;
  readonly repository: TemplateRepository;
  readonly service: SandboxService;
  readonly uploads: TemplateFiles;
  readonly keptDays: number;
  readonly nodes: Pick<SandboxNodes, 'silent'>;
  /** Number of builds under way on this node. */
  readonly underWay: () => number;
}

/** Ends builds that cannot go on, and removes what no build needs: of this node, and the records of lost nodes. */
export class TemplateSweeper {
  readonly #deps: TemplateSweeperDeps;

  constructor(deps: TemplateSweeperDeps) {
    this.#deps = deps;
  }

  /** Ends builds that an earlier process left under way, removes sandboxes of builds, and layers without a record. */
  async reconcile(): Promise<void> {
    const { repository, context } = this.#deps;
    const { driver, node } = context;
    if (driver.builds === undefined) return;
    for (const { id } of await repository.unfinished(node, ['building'])) {
      await this.#fail(id, 'The platform restarted during the build; build again');
    }
    await this.#removeSandboxes();
    const known = await repository.layerIds(node);
    for (const id of await driver.builds.list()) if (!known.has(id)) await driver.builds.remove(id);
    await this.sweep();
  }

  async sweep(): Promise<void> {
    const { context, keptDays, nodes, uploads } = this.#deps;
    const { driver, node, clock } = context;
    if (driver.builds === undefined) return;
    await this.#sweepNode(node);
    await this.collectLayers();
    await uploads.sweep(new Date(clock.nowMs() - keptDays * DAY_MS));
    for (const lost of await nodes.silent(LOST_MS)) if (lost !== node) await this.#sweepLost(lost);
  }

  /** A build in progress has its last layer without a record of the build for a moment, so none runs meanwhile. */
  async collectLayers(): Promise<void> {
    const { repository, context, underWay } = this.#deps;
    if (underWay() > 0) return;
    for (const { id } of await repository.unusedLayers(context.node, this.#unusedSince())) {
      await repository.removeLayer(id);
      await context.driver.builds?.remove(id);
    }
  }

  async #sweepNode(node: string): Promise<void> {
    const { repository, context } = this.#deps;
    const { clock } = context;
    const before = (ageMs: number): string => new Date(clock.nowMs() - ageMs).toISOString();
    for (const { id } of await repository.unfinished(node, ['waiting'], before(WAITING_MS))) {
      await this.#fail(id, 'The build was not started within an hour');
    }
    for (const build of await repository.untagged(node, before(UNTAGGED_MS))) {
      await repository.forgetImage(build.id);
      await repository.pruneBuilds(build.templateId, KEPT_BUILDS);
    }
  }

  /** If the node returns, its builds cannot finish, and its next start removes the layers without a record. */
  async #sweepLost(node: string): Promise<void> {
    const { repository } = this.#deps;
    for (const { id } of await repository.unfinished(node, ['building'])) {
      await this.#fail(id, 'The node of the build does not respond; build again');
    }
    await this.#sweepNode(node);
    for (const { id } of await repository.unusedLayers(node, this.#unusedSince())) await repository.removeLayer(id);
  }

  async #fail(id: string, message: string): Promise<void> {
    const { repository, context } = this.#deps;
    await repository.failBuild(id, { ...NO_PLACE, message }, context.clock.now().toISOString());
  }

  #unusedSince(): string {
    const { context, keptDays } = this.#deps;
    return new Date(context.clock.nowMs() - keptDays * DAY_MS).toISOString();
  }

  /** Runs before any build starts. The record of a build may have been deleted with its template. Forks are kept: users own them. */
  async #removeSandboxes(): Promise<void> {
    const { context, service } = this.#deps;
    const all = await context.repository.ofNode(context.node, ['creating', 'running', 'stopped', 'error']);
    const ofBuilds = all.filter(({ template, snapshotId }) => template?.buildId === null && snapshotId === null);
    for (const { id, workspaceUuid } of ofBuilds) {
      await service.remove(workspaceUuid, id).catch((error: unknown) => {
        if (!isAppError(error) || error.code !== 'SANDBOX_NOT_FOUND') throw error;
      });
    }
  }
}
