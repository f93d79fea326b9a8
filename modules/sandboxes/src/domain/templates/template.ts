import type { SandboxResources } from '../driver.ts';
import type { Limits } from '@svc/quotas';

/** `waiting`: created and not started yet. `building` includes waiting for a slot. */
export type BuildStatus = 'waiting' | 'building' | 'ready' | 'error';

export interface Template {
  /** `tpl_…` */
  readonly id: string;
  readonly workspaceUuid: string;
  readonly name: string;
  readonly ownerId: string;
  readonly createdAt: string;
}

/** Why a build failed. */
export interface BuildFailure {
  readonly message: string;
  /** Number of the step in its plan, from 0; null if it failed outside of one. */
  readonly step: number | null;
  /** Line of the Dockerfile. */
  readonly line: number | null;
  /** Set if a command was to run as a user that the image does not have. */
  readonly unknownUser: { readonly user: string; readonly command: string } | null;
}

/** What sandboxes get from a finished build. */
export interface BuildOutcome {
  readonly user: string | null;
  readonly workingFolder: string | null;
  readonly startCommand: readonly string[] | null;
  readonly readyCommand: string | null;
  readonly ports: readonly number[];
  /** Steps whose result was known, and all that change files. */
  readonly cachedSteps: number;
  readonly steps: number;
}

export interface TemplateBuild {
  /** A UUID. */
  readonly id: string;
  readonly templateId: string;
  readonly workspaceUuid: string;
  readonly ownerId: string;
  /** Where it was built, and its image is, whether it is archived or not. */
  readonly node: string;
  readonly status: BuildStatus;
  /** Names that it takes when it is ready. */
  readonly tags: readonly string[];
  readonly failure: BuildFailure | null;
  /** Of the sandboxes that build it, and the default of those created from it. */
  readonly resources: SandboxResources;
  readonly outcome: BuildOutcome | null;
  /** The layer that holds its image; null until it is ready, and once it was collected. */
  readonly layerId: string | null;
  readonly digest: string | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Since when every node can use its image; null for only its own. */
  readonly archivedAt: string | null;
  /** Why its image is not archived yet; null if no attempt failed. */
  readonly archiveError: string | null;
}

export interface TemplateTag {
  readonly tag: string;
  readonly buildId: string;
  readonly createdAt: string;
}

/** The image after a step of a build, and the cache of that step. */
export interface TemplateLayer {
  readonly id: string;
  readonly workspaceUuid: string;
  readonly node: string;
  /** Hash of all that the step depends on. */
  readonly cacheKey: string;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly createdAt: string;
}

export type LogLevel = 'info' | 'warn' | 'error';

export interface LogLine {
  /** From 0, without gaps. */
  readonly sequence: number;
  readonly at: string;
  readonly level: LogLevel;
  readonly step: number | null;
  readonly message: string;
}

/** Stores templates. Every method but `unfinished` and those by build is limited to a workspace. */
export interface TemplateRepository {
  /**
   * Returns the template of this name, after inserting it if there is none. Checks the quota in the same transaction and
   * throws QUOTA_EXCEEDED.
   */
  ensure(template: Template, limits: Limits): Promise<Template>;
  find(workspaceUuid: string, idOrName: string): Promise<Template | null>;
  /** By name. */
  list(workspaceUuid: string, options: { limit: number; after: string | null }): Promise<readonly Template[]>;
  /** Removes it with its builds, tags and logs. Returns false if it is gone. */
  remove(id: string): Promise<boolean>;
  count(workspaceUuid: string): Promise<number>;

  /** Throws QUOTA_EXCEEDED. */
  insertBuild(build: TemplateBuild, limits: Limits): Promise<void>;
  findBuild(id: string): Promise<TemplateBuild | null>;
  /** The newest build of any template of the workspace. */
  newestBuild(workspaceUuid: string): Promise<TemplateBuild | null>;
  /** Newest first. */
  builds(templateId: string, limit: number): Promise<readonly TemplateBuild[]>;
  /** Moves a build from `waiting` to `building`. Returns false if it was not `waiting`. */
  startBuild(id: string, at: string): Promise<boolean>;
  /** Ends a build in `building` and moves its tags to it. Returns false if it is gone or has ended. */
  finishBuild(id: string, result: Pick<TemplateBuild, 'outcome' | 'layerId' | 'digest'>, at: string): Promise<boolean>;
  /** Ends a build that has not ended. */
  failBuild(id: string, failure: BuildFailure, at: string): Promise<void>;
  /** Builds of this node in these states; with `before`, only those created earlier. */
  unfinished(node: string, states: readonly BuildStatus[], before?: string): Promise<readonly TemplateBuild[]>;
  /** Removes all builds of a template but the newest and those with a tag. */
  pruneBuilds(templateId: string, keep: number): Promise<void>;
  /** Builds of this node with a layer and without a tag, that were created before. */
  untagged(node: string, before: string): Promise<readonly TemplateBuild[]>;
  /** Forgets the image of a build that still has no tag. */
  forgetImage(id: string): Promise<void>;

  tags(templateId: string): Promise<readonly TemplateTag[]>;
  findTag(templateId: string, tag: string): Promise<TemplateTag | null>;
  /** Returns false if the image of the build is gone. */
  assignTags(templateId: string, buildId: string, tags: readonly string[], at: string): Promise<boolean>;
  /** Returns the number of tags that were there. */
  removeTags(templateId: string, tags: readonly string[]): Promise<number>;

  /** Finds the newest layer of a workspace on a node with this key, and notes its use. */
  findLayer(workspaceUuid: string, node: string, cacheKey: string, at: string): Promise<TemplateLayer | null>;
  /** Checks the quotas in the same transaction. Throws QUOTA_EXCEEDED. */
  insertLayer(layer: TemplateLayer, limits: Limits): Promise<void>;
  removeLayer(id: string): Promise<void>;
  layerIds(node: string): Promise<ReadonlySet<string>>;
  /** Layers of this node that no build needs and that were not used since. */
  unusedLayers(node: string, before: string): Promise<readonly TemplateLayer[]>;

  /** Appends lines and sets the build's number of lines. Does nothing once the build is gone. */
  appendLog(buildId: string, lines: readonly LogLine[]): Promise<void>;
  log(buildId: string, after: number, limit: number): Promise<readonly LogLine[]>;
  logSince(buildId: string, since: string, limit: number): Promise<readonly LogLine[]>;
}

export const DEFAULT_TAG = 'latest';
export const TEMPLATE_NAME_PATTERN = '^[a-z0-9][a-z0-9._-]{0,127}$';
export const TEMPLATE_TAG_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$';

/** `name` or `name:tag`. Returns null for anything else. */
export function parseTemplateName(text: string): { readonly name: string; readonly tag: string | null } | null {
  const [name = '', tag, ...rest] = text.split(':');
  if (rest.length > 0 || !new RegExp(TEMPLATE_NAME_PATTERN).test(name)) return null;
  if (tag !== undefined && !new RegExp(TEMPLATE_TAG_PATTERN).test(tag)) return null;
  return { name, tag: tag ?? null };
}

export function isBuildId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
