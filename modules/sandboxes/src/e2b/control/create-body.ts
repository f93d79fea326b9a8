import { nullable } from '@svc/http';
import type { Grant, Principal } from '@svc/access';
import { type Static, Type } from 'typebox';
import type { SandboxesConfig } from '../../config.ts';
import type { CreateRequest } from '../../domain/create-request.ts';
import type { ImageCatalog } from '../../domain/images/catalog.ts';
import type { IsolationPolicy } from '../../domain/isolation.ts';
import { MAX_VOLUMES_OF_SANDBOX } from '../../domain/volumes/volume.ts';
import { isSnapshotId } from '../../domain/identifiers.ts';
import type { SandboxSource } from '../../domain/source-nodes.ts';
import type { ExpiryAction } from '../../domain/sandbox.ts';
import type { SnapshotService } from '../../domain/snapshots/snapshot-service.ts';
import type { TemplateService } from '../../domain/templates/template-service.ts';
import type { Snapshot } from '../../domain/snapshots/snapshot.ts';
import type { VolumeService } from '../../domain/volumes/volume-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { toCreateRequest } from '../../routes/create-request.ts';
import { environmentSchema, labelsSchema } from '../../routes/schemas.ts';
import { egressOf, targetsSchema } from './egress.ts';
import { egressRulesOf, headerRulesSchema, type HeaderRule } from './header-rules.ts';

const MAX_TIMEOUT_SECONDS = 31_536_000;
/** As in E2B's clients. */
export const DEFAULT_TIMEOUT_SECONDS = 300;

export const timeoutSchema = Type.Integer({ minimum: 0, maximum: MAX_TIMEOUT_SECONDS });

/** A host, or `${PORT}` in it; a header cannot contain anything else (RFC 9110, section 7.2). */
const hostMaskSchema = Type.String({
  pattern: '^(?:[A-Za-z0-9._-]|\\$\\{PORT\\})+(?::(?:[0-9]{1,5}|\\$\\{PORT\\}))?$',
  maxLength: 255,
});

/** Fields that are not listed are refused by name, because a client expects an effect. */
export const createSandboxSchema = Type.Object({
  templateID: Type.String({ minLength: 1, maxLength: 256 }),
  timeout: Type.Optional(timeoutSchema),
  metadata: Type.Optional(nullable(labelsSchema)),
  envVars: Type.Optional(nullable(environmentSchema)),
  /** Every sandbox is secure: its data plane requires the sandbox's token. */
  secure: Type.Optional(nullable(Type.Boolean())),
  allow_internet_access: Type.Optional(nullable(Type.Boolean())),
  autoPause: Type.Optional(nullable(Type.Boolean())),
  autoPauseMemory: Type.Optional(nullable(Type.Boolean())),
  autoResume: Type.Optional(nullable(Type.Object({ enabled: Type.Optional(Type.Boolean()) }))),
  network: Type.Optional(
    nullable(
      Type.Object({
        allowOut: targetsSchema,
        denyOut: targetsSchema,
        allowPublicTraffic: Type.Optional(Type.Boolean()),
        rules: headerRulesSchema,
        maskRequestHost: Type.Optional(nullable(hostMaskSchema)),
      }),
    ),
  ),
  /** Only the client acts on it: it starts the gateway, which its template brings, as a command. */
  mcp: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown()))),
  volumeMounts: Type.Optional(
    nullable(
      Type.Array(Type.Object({ name: Type.String({ maxLength: 100 }), path: Type.String({ maxLength: 1024 }) }), {
        maxItems: MAX_VOLUMES_OF_SANDBOX,
      }),
    ),
  ),
});

export type CreateSandbox = Static<typeof createSandboxSchema>;

const KNOWN_FIELDS: ReadonlySet<string> = new Set(Object.keys(createSandboxSchema.properties));
const KNOWN_NETWORK: ReadonlySet<string> = new Set([
  'allowOut',
  'denyOut',
  'allowPublicTraffic',
  'rules',
  'maskRequestHost',
]);

/** Names that E2B's clients and tests use. */
const TEMPLATE_IMAGES: Readonly<Record<string, string>> = { 'ubuntu:22.04': 'ubuntu-22', 'ubuntu:24.04': 'ubuntu' };
const DEFAULT_TEMPLATES: ReadonlySet<string> = new Set(['base', 'e2bdev/base']);

export interface CreateDeps {
  readonly catalog: ImageCatalog;
  readonly snapshots: SnapshotService;
  readonly volumes: VolumeService;
  readonly templates: TemplateService;
  readonly config: SandboxesConfig;
  readonly isolation: IsolationPolicy;
  /** Whether the driver can limit a sandbox to hosts and addresses. */
  readonly limitsEgress: boolean;
  /** Names of the secrets of a workspace. */
  readonly secretNames: (workspaceUuid: string) => Promise<ReadonlySet<string>>;
}

/** What only one node may have of what a sandbox is created from. */
export function sourceOf({ templateID, volumeMounts }: CreateSandbox): SandboxSource {
  const [volume] = volumeMounts ?? [];
  if (volume !== undefined) return { kind: 'volume', name: volume.name };
  const template = templateName(templateID);
  return isSnapshotId(template)
    ? { kind: 'snapshot', name: template }
    : { kind: 'template', name: template.toLowerCase() };
}

function templateName(templateId: string): string {
  return templateId.replace(/:(?:default|latest)$/, '');
}

/** Throws E2B_UNSUPPORTED for what a sandbox cannot have here, and TEMPLATE_NOT_FOUND. */
export async function toDomainRequest(
  body: CreateSandbox,
  principal: Principal,
  grant: Grant,
  {
    catalog,
    snapshots,
    volumes,
    templates,
    config,
    isolation,
    limitsEgress,
    secretNames,
  }: Omit<CreateDeps, 'snapshots' | 'volumes' | 'templates'> & {
    snapshots: Pick<SnapshotService, 'usable'>;
    volumes: Pick<VolumeService, 'resolve'>;
    templates: Pick<TemplateService, 'resolve' | 'usable'>;
  },
): Promise<CreateRequest> {
  assertSupported(body);
  const template = templateName(body.templateID);
  const snapshot = isSnapshotId(template) ? await snapshots.usable(grant.workspaceUuid, template, null) : null;
  const name = template.toLowerCase();
  const isOwn = snapshot === null && (await templates.resolve(grant.workspaceUuid, name)) !== null;
  const built = isOwn ? await templates.usable(grant.workspaceUuid, name) : null;
  const image = snapshot === null && built === null ? imageOf(template, catalog) : undefined;
  const mounts = (body.volumeMounts ?? []).map((mount) => ({ ...mount, readOnly: false }));
  const rules = await egressRulesOf(body.network?.rules, 'network.rules', () => secretNames(grant.workspaceUuid));
  const request = toCreateRequest(
    {
      ...(image === undefined ? {} : { image }),
      ...networkOf(body, limitsEgress, rules),
      ...valuesOf(body),
      on_expiry: onExpiryOf(body),
    },
    principal,
    grant,
    config,
    null,
    snapshot,
    isolation,
    await volumes.resolve(grant.workspaceUuid, mounts),
    built,
  );
  const lifetime = body.timeout ?? DEFAULT_TIMEOUT_SECONDS;
  return {
    ...request,
    maxLifetimeSeconds: Math.min(lifetime, request.maxLifetimeSeconds ?? lifetime),
    requestHost: body.network?.maskRequestHost ?? null,
    resumeSeconds: body.autoResume?.enabled === true && request.onExpiry === 'pause' ? lifetime : null,
  };
}

/** The template that a client knows a sandbox by. */
export function templateOf({ image, snapshotId }: { image: string; snapshotId: string | null }): string {
  return snapshotId ?? image;
}

/** The name in the catalog; null if there is no such image. An image of the operator comes before a known name. */
export function findImage(template: string, catalog: ImageCatalog): string | null {
  if (catalog.find(template) !== null) return template;
  const usual = catalog.find('base')?.name ?? catalog.defaultName;
  const image = DEFAULT_TEMPLATES.has(template) ? usual : (TEMPLATE_IMAGES[template] ?? null);
  return image === null || catalog.find(image) === null ? null : image;
}

function imageOf(template: string, catalog: ImageCatalog): string {
  const image = findImage(template, catalog);
  if (image === null) throw sandboxErrors.TEMPLATE_NOT_FOUND({ details: { template, supported: catalog.names() } });
  return image;
}

function valuesOf({ envVars, metadata }: CreateSandbox) {
  return { environment: envVars ?? {}, labels: metadata ?? {} };
}

/** Without its memory, a sandbox is stopped: its processes end and its files stay. */
function onExpiryOf({ autoPause, autoPauseMemory }: CreateSandbox): ExpiryAction {
  if (autoPause !== true) return 'delete';
  return autoPauseMemory === false ? 'stop' : 'pause';
}

/** Without anything to reach, a sandbox has an empty allowlist, which can change; a network only where there is one. */
function networkOf(
  body: CreateSandbox,
  limitsEgress: boolean,
  rules: readonly HeaderRule[],
): { network?: 'none' | 'egress'; egress_allow?: string[]; egress_rules?: HeaderRule[] } {
  const egress = egressOf({ ...body.network, allow_internet_access: body.allow_internet_access ?? null }, 'network.');
  const added = rules.length === 0 ? {} : { network: 'egress' as const, egress_rules: [...rules] };
  if (egress === null) return added;
  if (egress.length === 0 && !limitsEgress) return { network: 'none' };
  return { ...added, network: 'egress', egress_allow: egress };
}

function assertSupported(body: CreateSandbox & Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(body).find((name) => !KNOWN_FIELDS.has(name) && isGiven(body[name]));
  if (unknown !== undefined) throw unsupported(`The field ${unknown}`, 'omit it');
  if (body.autoResume?.enabled === true && onExpiryOf(body) !== 'pause') {
    const reason = 'needs autoPause, with its memory';
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'autoResume', reason } });
  }
  assertKnownNetwork(body.network ?? {}, KNOWN_NETWORK, 'network.');
}

/** Throws E2B_UNSUPPORTED for a setting of the network that is not known. */
export function assertKnownNetwork(
  network: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  path: string,
): void {
  const other = Object.keys(network).find((name) => !known.has(name) && isGiven(network[name]));
  if (other !== undefined) throw unsupported(`The field ${path}${other}`, 'omit it');
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && JSON.stringify(value) !== '{}';
}

function unsupported(feature: string, remedy: string): Error {
  return sandboxErrors.E2B_UNSUPPORTED({ details: { feature, remedy } });
}

/** The snapshot's own id, which is also the name of the template. */
export function toSnapshotView({ id, name }: Snapshot): { snapshotID: string; names: string[] } {
  return { snapshotID: id, names: [name] };
}
