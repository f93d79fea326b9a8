import type { Principal } from '@svc/access';
import { sandboxErrors } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import type { SandboxResources } from '../driver.ts';
import { newTemplateId } from '../identifiers.ts';
import type { SandboxNodes } from '../ports.ts';
import type { SandboxService } from '../sandbox-service.ts';
import { MAX_STEPS, type BuildPlan } from './build-plan.ts';
import type { SandboxTemplate } from './sandbox-template.ts';
import type { TemplateBuilder } from './template-builder.ts';
import type { TemplateFiles } from './template-files.ts';
import { KEPT_BUILDS, NO_PLACE, TemplateSweeper } from './template-sweeper.ts';
import {
  DEFAULT_TAG,
  isBuildId,
  parseTemplateName,
  TEMPLATE_TAG_PATTERN,
  type LogLine,
  type Template,
  type TemplateBuild,
  type TemplateRepository,
  type TemplateTag,
} from './template.ts';

const POLL_MS = 1_000;

export interface BuildRequest {
  readonly workspaceUuid: string;
  readonly maker: Pick<Principal, 'kind' | 'id'>;
  /** Name, also with a tag. */
  readonly name: string;
  readonly tags: readonly string[];
  readonly resources: SandboxResources;
}

export interface TemplateServiceDeps {
  readonly context: SandboxContext;
  readonly repository: TemplateRepository;
  readonly service: SandboxService;
  readonly uploads: TemplateFiles;
  readonly keptDays: number;
  readonly nodes: Pick<SandboxNodes, 'silent'>;
}

/** A build that sandboxes can be created from on this node. */
export interface UsableTemplate {
  /** `name:tag`, or the id of the build. */
  readonly name: string;
  readonly template: SandboxTemplate;
  readonly resources: SandboxResources;
}

/** Templates of workspaces and their builds. The caller authorizes access to the workspace. */
export class TemplateService {
  readonly uploads: TemplateFiles;
  readonly #deps: TemplateServiceDeps;
  readonly #builder: TemplateBuilder;
  readonly #sweeper: TemplateSweeper;
  /** Callers that wait for the log of a build. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(deps: TemplateServiceDeps, builder: (changed: (buildId: string) => void) => TemplateBuilder) {
    this.#deps = deps;
    this.uploads = deps.uploads;
    this.#builder = builder((buildId) => this.#wake(buildId));
    this.#sweeper = new TemplateSweeper({ ...deps, underWay: () => this.#builder.underWay });
  }

  get buildsUnderWay(): number {
    return this.#builder.underWay;
  }

  /** Creates a build that waits for its plan. Throws TEMPLATES_UNAVAILABLE, INVALID_FIELD and QUOTA_EXCEEDED. */
  async request(wanted: BuildRequest): Promise<[Template, TemplateBuild]> {
    this.#builder.driver();
    return this.#insert(wanted, null);
  }

  /** Creates a build and starts it. Throws what `request` and `start` throw; a refused build leaves no record. */
  async begin(wanted: BuildRequest, plan: BuildPlan): Promise<[Template, TemplateBuild]> {
    await this.#assertPossible(wanted.workspaceUuid, plan);
    return this.#insert(wanted, plan);
  }

  /** With a plan, the build is never `waiting`, which lasts an hour if the platform ends before it starts. */
  async #insert(wanted: BuildRequest, plan: BuildPlan | null): Promise<[Template, TemplateBuild]> {
    const { context, repository } = this.#deps;
    const { workspaceUuid } = wanted;
    const name = wantedName(wanted);
    const createdAt = context.clock.now().toISOString();
    const id = newTemplateId(context.random.bytes);
    const draft = { id, workspaceUuid, name: name.name, ownerId: wanted.maker.id, createdAt };
    const limits = await context.quotaLimits.readLimits(workspaceUuid);
    const template = await repository.ensure(draft, limits);
    const build: TemplateBuild = {
      id: context.random.uuid(), // as clients of E2B's protocol expect
      templateId: template.id,
      workspaceUuid,
      ownerId: wanted.maker.id,
      node: context.node,
      status: plan === null ? 'waiting' : 'building',
      tags: name.tags,
      failure: null,
      resources: wanted.resources,
      outcome: null,
      layerId: null,
      digest: null,
      createdAt,
      startedAt: plan === null ? null : createdAt,
      finishedAt: null,
      archivedAt: null,
      archiveError: null,
    };
    await repository.insertBuild(build, limits);
    if (plan !== null) this.#builder.begin(build, plan);
    await repository.pruneBuilds(template.id, KEPT_BUILDS);
    return [template, build];
  }

  /** Starts a waiting build. Throws BUILD_STARTED, TEMPLATE_ELSEWHERE, NODE_DRAINING and INVALID_FIELD. */
  async start(build: TemplateBuild, plan: BuildPlan): Promise<void> {
    const { repository, context } = this.#deps;
    this.#assertBuiltHere(build);
    await this.#assertPossible(build.workspaceUuid, plan);
    if (!(await repository.startBuild(build.id, context.clock.now().toISOString())))
      throw sandboxErrors.BUILD_STARTED();
    this.#builder.begin({ ...build, status: 'building' }, plan);
  }

  async #assertPossible(workspaceUuid: string, plan: BuildPlan): Promise<void> {
    this.#builder.driver();
    await this.#deps.context.recovery.wait();
    this.#deps.service.assertTakesSandboxes();
    const steps = plan.stages.reduce((sum, stage) => sum + stage.steps.length, 0);
    if (steps > MAX_STEPS) {
      throw sandboxErrors.INVALID_FIELD({ details: { field: 'steps', reason: `at most ${MAX_STEPS} are allowed` } });
    }
    for (const { steps: each } of plan.stages) await this.#assertUploaded(workspaceUuid, each);
  }

  async #assertUploaded(workspaceUuid: string, steps: BuildPlan['stages'][number]['steps']): Promise<void> {
    for (const step of steps) {
      if (step.kind !== 'copy' || step.from !== null) continue;
      if (step.files !== null && (await this.uploads.has(workspaceUuid, step.files))) continue;
      const reason = `${step.text.slice(0, 100)}: its files were not uploaded to this node`;
      throw sandboxErrors.INVALID_FIELD({ details: { field: 'files', reason } });
    }
  }

  list(workspaceUuid: string, page: { limit: number; after: string | null }): Promise<readonly Template[]> {
    return this.#deps.repository.list(workspaceUuid, page);
  }

  count(workspaceUuid: string): Promise<number> {
    return this.#deps.repository.count(workspaceUuid);
  }

  /** Throws TEMPLATE_NOT_FOUND. */
  async get(workspaceUuid: string, idOrName: string): Promise<Template> {
    const template = await this.#deps.repository.find(workspaceUuid, idOrName);
    if (template === null) throw sandboxErrors.TEMPLATE_NOT_FOUND({ details: { template: idOrName.slice(0, 200) } });
    return template;
  }

  builds(template: Template, limit = KEPT_BUILDS): Promise<readonly TemplateBuild[]> {
    return this.#deps.repository.builds(template.id, limit);
  }

  /** Throws TEMPLATE_NOT_FOUND and BUILD_NOT_FOUND. */
  async build(workspaceUuid: string, idOrName: string, buildId: string): Promise<TemplateBuild> {
    const template = await this.get(workspaceUuid, idOrName);
    const build = isBuildId(buildId) ? await this.#deps.repository.findBuild(buildId) : null;
    if (build === null || build.templateId !== template.id) throw sandboxErrors.BUILD_NOT_FOUND();
    return build;
  }

  /** Removes a template with its builds, and ends one under way. Sandboxes created from it keep their files. */
  async remove(workspaceUuid: string, idOrName: string): Promise<void> {
    const template = await this.get(workspaceUuid, idOrName);
    const builds = await this.#deps.repository.builds(template.id, 1000);
    if (!(await this.#deps.repository.remove(template.id))) {
      throw sandboxErrors.TEMPLATE_NOT_FOUND({ details: { template: idOrName } });
    }
    for (const { id } of builds) await this.#builder.cancel(id, 'The template was deleted');
    await this.#sweeper.collectLayers();
  }

  /** Ends a build that is under way on this node. Throws BUILD_NOT_FOUND, and TEMPLATE_ELSEWHERE. */
  async cancel(workspaceUuid: string, idOrName: string, buildId: string): Promise<TemplateBuild> {
    const build = await this.build(workspaceUuid, idOrName, buildId);
    const { repository, context } = this.#deps;
    this.#assertBuiltHere(build);
    const message = 'The build was cancelled';
    if (this.#builder.isRunning(buildId)) await this.#builder.cancel(buildId, message);
    else await repository.failBuild(buildId, { ...NO_PLACE, message }, context.clock.now().toISOString());
    return this.build(workspaceUuid, idOrName, buildId);
  }

  tags(template: Template): Promise<readonly TemplateTag[]> {
    return this.#deps.repository.tags(template.id);
  }

  /** Gives the build of a name further tags; with `of`, only one of that template. Throws TEMPLATE_NOT_FOUND and INVALID_FIELD. */
  async assignTags(
    workspaceUuid: string,
    target: string,
    tags: readonly string[],
    of: Template | null = null,
  ): Promise<TemplateBuild> {
    assertTags(tags);
    const build = await this.resolve(workspaceUuid, target);
    if (build === null || (of !== null && build.templateId !== of.id))
      throw sandboxErrors.TEMPLATE_NOT_FOUND({ details: { template: target.slice(0, 200) } });
    if (build.digest === null) throw sandboxErrors.TEMPLATE_NOT_READY({ details: { template: target } });
    const { repository, context } = this.#deps;
    // Notes its use first: until the archive is needed by the tag, nothing removes it.
    await context.archives?.images.use(build.digest);
    const at = context.clock.now().toISOString();
    if (!(await repository.assignTags(build.templateId, build.id, tags, at)))
      throw sandboxErrors.TEMPLATE_NOT_READY({ details: { template: target } });
    return build;
  }

  /** Throws TEMPLATE_NOT_FOUND. */
  async removeTags(workspaceUuid: string, name: string, tags: readonly string[]): Promise<void> {
    const template = await this.get(workspaceUuid, name);
    await this.#deps.repository.removeTags(template.id, tags);
  }

  /** The build that a name, a name with a tag, or an id refers to; null if there is none. */
  async resolve(workspaceUuid: string, reference: string): Promise<TemplateBuild | null> {
    const { repository } = this.#deps;
    if (isBuildId(reference)) {
      const build = await repository.findBuild(reference);
      if (build !== null) return build.workspaceUuid === workspaceUuid ? build : null;
    }
    const parsed = parseTemplateName(reference);
    if (parsed === null) return null;
    const template = await repository.find(workspaceUuid, parsed.name); // also by its id
    if (template === null) return null;
    const tag = await repository.findTag(template.id, parsed.tag ?? DEFAULT_TAG);
    const found = tag?.buildId ?? (parsed.tag === null ? await this.#onlyBuild(template) : null);
    return found === null ? null : repository.findBuild(found);
  }

  /** Without the default tag, the newest build with any tag. */
  async #onlyBuild(template: Template): Promise<string | null> {
    const tags = await this.#deps.repository.tags(template.id);
    return tags.toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))[0]?.buildId ?? null;
  }

  /**
   * What a sandbox is created from. Throws TEMPLATE_NOT_FOUND, TEMPLATE_NOT_READY and, for a sandbox of this node, TEMPLATE_ELSEWHERE:
   * clusters pull the image from its node.
   */
  async usable(workspaceUuid: string, reference: string, place: 'here' | 'anywhere' = 'here'): Promise<UsableTemplate> {
    const build = await this.resolve(workspaceUuid, reference);
    if (build === null) throw sandboxErrors.TEMPLATE_NOT_FOUND({ details: { template: reference.slice(0, 200) } });
    if (build.digest === null || build.outcome === null) {
      throw sandboxErrors.TEMPLATE_NOT_READY({ details: { template: reference } });
    }
    if (place === 'here') await this.#assertUsable(build, build.digest);
    const { user, workingFolder, startCommand } = build.outcome;
    const isNamed = parseTemplateName(reference)?.tag === null && !isBuildId(reference);
    return {
      name: isNamed ? `${reference}:${DEFAULT_TAG}` : reference,
      template: { digest: build.digest, buildId: build.id, user, workingFolder, startCommand },
      resources: build.resources,
    };
  }

  /** The only node with the image of a template of this workspace; null if others can use it, too, or there is none. */
  async findNode(reference: string, workspaceUuid: string): Promise<string | null> {
    const build = await this.resolve(workspaceUuid, reference);
    if (build === null || build.digest === null || (await this.#isArchived(build.digest))) return null;
    return build.node;
  }

  async #isArchived(digest: string): Promise<boolean> {
    const { archives } = this.#deps.context;
    return archives !== null && (await archives.images.find(digest)) !== null;
  }

  async #assertUsable({ id, templateId, node, archivedAt }: TemplateBuild, digest: string): Promise<void> {
    const { context, repository } = this.#deps;
    if (node === context.node || (await this.#isArchived(digest))) return;
    const isTagged = (await repository.tags(templateId)).some(({ buildId }) => buildId === id);
    const remedy =
      context.archives === null || archivedAt !== null // for another architecture
        ? `send the request to node ${node}, or build the template on this one, too`
        : isTagged
          ? 'it is not archived yet; try again, or see archive_error of the build'
          : 'only builds with a tag are archived; give it one, and try again';
    throw sandboxErrors.TEMPLATE_ELSEWHERE({ details: { node, remedy } });
  }

  #assertBuiltHere({ node }: TemplateBuild): void {
    if (node === this.#deps.context.node) return;
    throw sandboxErrors.TEMPLATE_ELSEWHERE({ details: { node, remedy: `send the request to node ${node}` } });
  }

  /** The check that tells when the programs of a build are ready; null if it has none, or is gone. */
  async readyCommand(buildId: string): Promise<string | null> {
    return (await this.#deps.repository.findBuild(buildId))?.outcome?.readyCommand ?? null;
  }

  /** Lines of the log from a number on. Waits for the next ones while the build is under way, at most `waitMs`. */
  async log(
    build: TemplateBuild,
    options: { after: number; limit: number; waitMs: number },
    signal: AbortSignal,
  ): Promise<{ lines: readonly LogLine[]; build: TemplateBuild }> {
    const { repository, context } = this.#deps;
    const untilMs = context.clock.nowMs() + options.waitMs;
    for (;;) {
      // Read before the lines: a build that has ended by then has all of them.
      const current = await repository.findBuild(build.id);
      if (current === null) throw sandboxErrors.BUILD_NOT_FOUND();
      const lines = await repository.log(build.id, options.after, options.limit);
      const isOver = current.status === 'ready' || current.status === 'error';
      const leftMs = untilMs - context.clock.nowMs();
      if (lines.length > 0 || isOver || leftMs <= 0 || signal.aborted) return { lines, build: current };
      await this.#nextChange(build.id, Math.min(leftMs, POLL_MS), signal);
    }
  }

  /** Lines of the log that were written at this time or later. */
  logSince(build: TemplateBuild, since: string, limit: number): Promise<readonly LogLine[]> {
    return this.#deps.repository.logSince(build.id, since, limit);
  }

  /** Ends builds that an earlier process left under way, removes their sandboxes, and layers without a record. */
  reconcile(): Promise<void> {
    return this.#sweeper.reconcile();
  }

  /** Ends builds that were never started or whose node is lost, and removes what no build needs any more. */
  sweep(): Promise<void> {
    return this.#sweeper.sweep();
  }

  close(): Promise<void> {
    return this.#builder.close();
  }

  #wake(buildId: string): void {
    for (const wake of this.#waiting.get(buildId) ?? []) wake();
  }

  async #nextChange(buildId: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(buildId) ?? new Set();
    this.#waiting.set(buildId, waiting.add(resolve));
    const cancel = this.#deps.context.clock.setTimer(resolve, waitMs);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    cancel();
    waiting.delete(resolve);
    if (waiting.size === 0) this.#waiting.delete(buildId);
  }
}

/** The name without a tag, and the tags that a build takes. Throws INVALID_FIELD. */
function wantedName({ name, tags }: BuildRequest): { readonly name: string; readonly tags: readonly string[] } {
  const parsed = parseTemplateName(name);
  if (parsed === null) {
    const reason = 'can only contain lowercase letters, digits, ., _ and -, and a tag after a colon';
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'name', reason } });
  }
  assertTags(tags);
  const all = new Set([...(parsed.tag === null ? [] : [parsed.tag]), ...tags]);
  return { name: parsed.name, tags: all.size === 0 ? [DEFAULT_TAG] : [...all] };
}

function assertTags(tags: readonly string[]): void {
  const pattern = new RegExp(TEMPLATE_TAG_PATTERN);
  const index = tags.findIndex((tag) => !pattern.test(tag));
  if (index === -1) return;
  const reason = 'can only contain letters, digits, ., _ and -';
  throw sandboxErrors.INVALID_FIELD({ details: { field: `tags[${index}]`, reason } });
}
