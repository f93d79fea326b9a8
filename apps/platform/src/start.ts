import { readFileSync } from 'node:fs';
import type { HelperBinaries } from '@svc/helper-binary';
import { refuseHops } from '@svc/forward';
import { createListener, createMetricsHandler, type Listener, type ListenerOptions } from '@svc/http';
import type { SealedSecrets } from '@svc/replicas';
import type { Logger } from '@svc/telemetry';
import { compose, type Composition } from './compose.ts';
import type { PlatformConfig } from './config.ts';
import { createConsoleHandler } from './console/console-handler.ts';
import { advertisedUrl, createInternal, internalAddress } from './forwarding.ts';
import { readServiceStates, type PlatformStatus } from './http/status-routes.ts';
import { createRequestHandler } from './http/request-handler.ts';
import { createConnectionRefusals } from './http/connection-refusals.ts';
import { hstsSeconds, redirectToTls } from './http/require-tls.ts';
import { assertPortsFree, listenOn, type ListenAddress, type ListenFlag } from './listen.ts';
import { ensureLocalCertificate } from './local-authority.ts';
import { readOwnerFile, writeOwnerFile } from './owner-file.ts';
import { createAuthorityStore } from './shared-secrets.ts';
import { VERSION } from './version.ts';

export interface StartOptions {
  config: PlatformConfig;
  log: Logger;
  /** Provides the program that runs in each sandbox. */
  helperBinaries: HelperBinaries;
  /** The console's build folder. */
  consoleFolder: string;
  /** Ends the process at once, because another one has taken over this replica's id. The reason was logged. */
  onTaken?: () => void;
}

/** The output line of `svc up --json`. */
export interface ReadyLine {
  url: string;
  https_url: string;
  s3_endpoint: string | null;
  /** S3 with TLS; null if that listener is off. */
  s3_https_endpoint: string | null;
  /** The owner's API token for this start. */
  token: string;
  workspace_uuid: string;
  tenant_id: string;
  pid: number;
}

export interface RunningPlatform {
  readonly ready: ReadyLine;
  readonly owner: { email: string; file: string };
  status(): Promise<PlatformStatus>;
  close(): Promise<void>;
}

/**
 * Composes the platform, opens the listeners and starts the background work. On failure, closes everything opened so
 * far.
 */
export async function startPlatform(options: StartOptions): Promise<RunningPlatform> {
  const composition = await compose(options);
  try {
    return await startComposition(options, composition);
  } catch (error) {
    await composition.lifecycle.close();
    throw error;
  }
}

/** S3 object metadata is sent in headers. */
const S3_HEADER_BYTES = 64 * 1024;

/** Opens the listeners and starts the background work. The caller closes the composition if this fails. */
export async function startComposition(options: StartOptions, composition: Composition): Promise<RunningPlatform> {
  const { config } = options;
  const { accounts, modules, lifecycle, endpoints, folder, shutdown } = composition;
  const stopping = new AbortController();
  for (const [name, module] of Object.entries(modules)) lifecycle.own(name, () => module.close());
  lifecycle.own('background work', () => stopping.abort());
  // Closed first: until the last request has ended, everything that it uses is open.
  lifecycle.own('listeners', () => shutdown.drain(), shutdown.longestMs + 1_000);
  await openListeners(options, composition);
  for (const module of Object.values(modules)) await module.start(stopping.signal);
  await accounts.start(stopping.signal);

  const owner = await accounts.ensureOwner({
    email: config.owner.email,
    ...(config.owner.password === undefined ? {} : { password: config.owner.password }),
  });
  const previous = await readOwnerFile(folder.ownerFile);
  const { token, workspaceUuid } = await accounts.issueStartToken(composition.replica.id, previous?.token);
  const password = owner.generatedPassword ?? (previous?.email === owner.email ? previous.password : null);
  await writeOwnerFile(folder.ownerFile, { email: owner.email, password, token });
  shutdown.serving();

  return {
    ready: {
      url: endpoints.url,
      https_url: endpoints.httpsUrl,
      s3_endpoint: config.services.includes('object-store') ? endpoints.s3Endpoint : null,
      s3_https_endpoint: endpoints.s3HttpsEndpoint,
      token,
      workspace_uuid: workspaceUuid,
      tenant_id: workspaceUuid,
      pid: process.pid,
    },
    owner: { email: owner.email, file: folder.ownerFile },
    status: async () => ({
      version: VERSION,
      uptime_seconds: Math.floor((performance.now() - composition.startedAtMs) / 1000),
      services: await readServiceStates(modules, workspaceUuid),
    }),
    close: () => lifecycle.close(),
  };
}

/** Listeners whose connections are told to reconnect elsewhere. */
const UPGRADING: ReadonlySet<ListenFlag> = new Set(['--port', '--https-port', 'internal.listen', 'sandboxes.ssh.port']);

async function openListeners(options: StartOptions, composition: Composition): Promise<void> {
  const { config, log } = options;
  const { shutdown, folder, upgrades, clientOf, app, endpoints } = composition;
  await assertPortsFree(addressesOf(config, composition));
  const console = await createConsoleHandler({
    folder: options.consoleFolder,
    apiPrefixes: ['/api', '/v1', '/v2', '/ws', '/healthz', '/readyz', '/metrics', '/.well-known'],
    onFault: (error) => log.error({ err: error }, 'a file of the console could not be served'),
  });
  const modules = Object.values(composition.modules);
  const hsts = { seconds: hstsSeconds(config), clientOf };
  const handler = createRequestHandler(app, console, modules, hsts);
  const onSlowBody: NonNullable<ListenerOptions['onSlowBody']> = ({ request }) => {
    if (!modules.some(({ allowsSlowBody }) => allowsSlowBody(request))) request.destroy();
  };
  const open: OpenListener = async (listener, port, flag, host = config.host) => {
    const opened = await listenOn(listener, { port, host, flag });
    shutdown.add(listener, { upgrades: UPGRADING.has(flag) });
    return opened;
  };
  const onClosing = async (): Promise<void> => {
    await Promise.all([upgrades.drain(), ...modules.map((module) => module.drain())]);
  };
  const shared = { onUpgrade: upgrades.dispatch, onSlowBody, onClosing };
  const served: ListenerOptions = refuseHops({ handler, ...shared });
  const plain = config.http === 'serve' ? served : { handler: redirectToTls(handler, () => endpoints.url) };
  const refusals = createConnectionRefusals({ log, metrics: composition.metrics }, () => performance.now());
  const create = createListeners(config, refusals);
  const http = config.http === 'off' ? 0 : await open(create(plain, '--port'), config.port, '--port');
  const { ca, ...tls } = await tlsMaterial(config, folder.tlsFolder, composition.secrets);
  endpoints.certifiedBy(ca);
  const https = await open(
    create({ ...served, tls, http2: config.tls.http2 }, '--https-port'),
    config.https_port,
    '--https-port',
  );
  await openMetrics(options, composition, create, open);
  const shares = { onRefused: refusals('internal.listen') };
  await openInternal(options, composition, { ...shared, shares }, open);
  const { s3, sites } = composition.modules.objectStore;
  const limits = { maxHeaderSizeBytes: S3_HEADER_BYTES };
  const openS3 = async (port: number | undefined, flag: ListenFlag, more: Pick<ListenerOptions, 'tls'>) =>
    s3 === null || port === undefined ? null : await open(create({ ...s3, ...more, limits }, flag), port, flag);
  const s3Port = (await openS3(config.s3_port, '--s3-port', {})) ?? 0;
  const s3Https = await openS3(config.s3_https_port, '--s3-https-port', { tls });
  const { http_port: siteHttp, https_port: siteHttps } = config.object_store.custom_domains;
  const openSite = async (scheme: 'http' | 'https', sitePort: number | undefined): Promise<void> => {
    if (sites === null || sitePort === undefined) return;
    const flag = `object_store.custom_domains.${scheme}_port` as const;
    const opened = await open(create({ ...sites[scheme], limits }, flag), sitePort, flag);
    log.info({ scheme, port: opened }, 'serving custom domains');
  };
  await openSite('http', siteHttp);
  await openSite('https', siteHttps);
  const { ssh } = composition.modules.sandboxes;
  const { port: sshPort } = config.sandboxes.ssh;
  if (ssh !== null && sshPort !== undefined) await open(ssh, sshPort, 'sandboxes.ssh.port');
  endpoints.opened({ http, https, s3: s3Port, s3Https });
}

type CreateListener = (options: ListenerOptions, flag: ListenFlag) => Listener;

/** Creates listeners whose connections are shared between client addresses; trusted proxies need no share. */
function createListeners(
  { max_connections: maxConnections, trusted_proxies: trustedProxies }: PlatformConfig,
  refusals: ReturnType<typeof createConnectionRefusals>,
): CreateListener {
  return (options, flag) =>
    createListener({
      ...options,
      limits: { ...options.limits, maxConnections },
      shares: { trustedProxies, onRefused: refusals(flag) },
    });
}

/** Every address that will be listened on. */
function addressesOf(config: PlatformConfig, { modules }: Composition): ListenAddress[] {
  const { host, metrics } = config;
  const { s3, sites } = modules.objectStore;
  const internal = internalAddress(config);
  const { http_port: siteHttp, https_port: siteHttps } = config.object_store.custom_domains;
  const ports: [ListenFlag, number | undefined][] = [
    ['--port', config.http === 'off' ? undefined : config.port],
    ['--https-port', config.https_port],
    ['--s3-port', s3 === null ? undefined : config.s3_port],
    ['--s3-https-port', s3 === null ? undefined : config.s3_https_port],
    ['object_store.custom_domains.http_port', sites === null ? undefined : siteHttp],
    ['object_store.custom_domains.https_port', sites === null ? undefined : siteHttps],
    ['sandboxes.ssh.port', modules.sandboxes.ssh === null ? undefined : config.sandboxes.ssh.port],
  ];
  return [
    ...ports.flatMap(([flag, port]) => (port === undefined ? [] : [{ flag, port, host }])),
    ...(metrics.port === undefined ? [] : [{ flag: 'metrics.port' as const, port: metrics.port, host: metrics.host }]),
    ...(internal === null ? [] : [{ flag: 'internal.listen' as const, ...internal }]),
  ];
}

type OpenListener = (
  listener: Pick<Listener, 'announceClose' | 'close' | 'listen'>,
  port: number,
  flag: ListenFlag,
  host?: string,
) => Promise<number>;

/** A metrics-only listener, if configured. */
async function openMetrics(
  { config, log }: StartOptions,
  composition: Composition,
  create: CreateListener,
  open: OpenListener,
): Promise<void> {
  const { port, host, token } = config.metrics;
  if (port === undefined) return;
  const handler = createMetricsHandler({ metrics: composition.metrics, token });
  log.info(
    { host, port: await open(create({ handler }, 'metrics.port'), port, 'metrics.port', host) },
    'metrics are served',
  );
}

/** The listener for other replicas, if there may be any. They find its URL in the row of this replica. */
async function openInternal(
  { config, log }: StartOptions,
  { internal, modules, app, replica }: Composition,
  served: Pick<Required<ListenerOptions>, 'onUpgrade' | 'onSlowBody' | 'onClosing' | 'shares'>,
  open: OpenListener,
): Promise<void> {
  const address = internalAddress(config);
  if (internal === null || address === null) return;
  const { clusters, sandboxes } = modules;
  const handler: ListenerOptions['handler'] = (request, response) => {
    if (clusters.handleHost(request, response) || sandboxes.handleHost(request, response)) return;
    app.routing(request, response);
  };
  const port = await open(
    createInternal(internal, { ...served, handler }),
    address.port,
    'internal.listen',
    address.host,
  );
  const url = advertisedUrl(config, { ...address, port });
  await replica.advertise(url);
  log.info({ url }, 'other replicas reach this one');
}

/** The operator's certificate, else one from the local authority. */
async function tlsMaterial(
  config: PlatformConfig,
  folder: string,
  secrets: SealedSecrets,
): Promise<{ key: string; cert: string; ca: string | null }> {
  const { cert_file: certFile, key_file: keyFile } = config.tls;
  if (certFile !== undefined && keyFile !== undefined) {
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8'), ca: null };
  }
  // Each port of a sandbox, and each bucket with public objects, is a name directly below its domain.
  const { domain: publicDomain } = config.object_store.public_objects;
  const names = [config.host, `*.${config.sandboxes.preview_domain}`];
  if (publicDomain !== '') names.push(`*.${publicDomain}`);
  if (config.s3_https_port !== undefined) {
    names.push(...config.object_store.domains.flatMap((domain) => [domain, `*.${domain}`]));
  }
  return ensureLocalCertificate(folder, names, new Date(), createAuthorityStore(secrets));
}
