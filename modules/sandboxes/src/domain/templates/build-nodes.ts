import { hash } from 'node:crypto';
import { RecentResults } from '@svc/runtime';
import type { SandboxContext } from '../context.ts';
import type { OpenNodes } from '../nodes/sandbox-node.ts';
import type { SandboxNodes } from '../ports.ts';
import { isBuildId, type TemplateRepository } from './template.ts';

/** The kind of owned thing that takes uploaded files and new builds: the node that builds for a workspace. */
export const TEMPLATE_BUILDER = 'template_builder';
/** The kind of owned thing that a build is. */
export const TEMPLATE_BUILD = 'template_build';

/** The requests of one build come in a burst. */
const NODE_KEPT_MS = 500;
const MAX_WORKSPACES = 10_000;

export interface BuildNodesDeps {
  readonly context: Pick<SandboxContext, 'driver' | 'node' | 'clock'>;
  readonly repository: Pick<TemplateRepository, 'findBuild' | 'newestBuild'>;
  readonly openNodes: Pick<OpenNodes, 'open'>;
  readonly nodes: Pick<SandboxNodes, 'live'>;
}

/**
 * Which node builds the templates of a workspace. Uploaded files and the cache of steps stay on the node that has them, so a
 * workspace stays with the node of its newest build, as long as that takes sandboxes.
 */
export class BuildNodes {
  readonly #deps: BuildNodesDeps;
  readonly #found: RecentResults<string | null>;

  constructor(deps: BuildNodesDeps) {
    const { clock } = deps.context;
    this.#deps = deps;
    this.#found = new RecentResults({
      maxAgeMs: NODE_KEPT_MS,
      maxEntries: MAX_WORKSPACES,
      nowMs: () => clock.nowMs(),
    });
  }

  /** The node that builds for a workspace; null if no node can. */
  ofWorkspace(workspaceUuid: string): Promise<string | null> {
    return this.#found.get(workspaceUuid, () => this.#choose(workspaceUuid));
  }

  /** The node of a build of this workspace; null if there is none. */
  async ofBuild(buildId: string, workspaceUuid: string): Promise<string | null> {
    const build = isBuildId(buildId) ? await this.#deps.repository.findBuild(buildId) : null;
    return build?.workspaceUuid === workspaceUuid ? build.node : null;
  }

  async #choose(workspaceUuid: string): Promise<string | null> {
    const { context, repository, openNodes, nodes } = this.#deps;
    if (context.driver.builds === undefined) return null;
    const live = new Set(await nodes.live());
    const candidates = (await openNodes.open(context.driver.name)).filter((node) => live.has(node));
    const newest = await repository.newestBuild(workspaceUuid);
    if (newest !== null && candidates.includes(newest.node)) return newest.node;
    return highest(candidates, workspaceUuid);
  }
}

/** Rendezvous hashing: every node makes the same choice, and one that joins or leaves moves only its own share. */
function highest(candidates: readonly string[], workspaceUuid: string): string | null {
  const weighted = candidates.map((node) => ({ node, weight: hash('sha256', `${workspaceUuid}\n${node}`) }));
  return weighted.toSorted((one, other) => other.weight.localeCompare(one.weight))[0]?.node ?? null;
}
