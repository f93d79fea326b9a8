import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { cookieValues, PLATFORM_COOKIES, type Access, type GrantedAccess, type HeldRights } from '@svc/access';
import { toAppError } from '@svc/errors';
import {
  resolveRequestId,
  keepOpen,
  type ClientOfRequest,
  type Forwarding,
  type Owned,
  type UpgradeRequest,
  type UpgradeRoute,
} from '@svc/http';
import type { Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { HelperConnection } from '../../domain/helper/helper-connection.ts';
import { sandboxErrors } from '../../errors.ts';
import { forwardRequest, forwardUpgrade, noticeLeaving } from './forward.ts';
import type { OpenPreviews } from '../../domain/preview/open-previews.ts';
import { PortSocket } from '../../domain/preview/port-socket.ts';
import { answerError, entryCookie, isNavigation } from './preview-answers.ts';
import type { PortTraffic } from './port-traffic.ts';
import { requestHeaders, responseHeaders, TRAFFIC_TOKEN } from './preview-headers.ts';
import { SANDBOX } from '../../domain/holder.ts';
import type { Sandbox } from '../../domain/sandbox.ts';
import type { CheckedPreview, PreviewLinks } from './preview-links.ts';
import { parsePlace, type PreviewPlace } from './preview-place.ts';

/** Cuts a request without data in either direction after this time; the listener's own limit is meant for API calls. */
const IDLE_MS = 10 * 60_000;

export interface PreviewGatewayOptions {
  readonly domain: string;
  readonly links: PreviewLinks;
  readonly traffic: PortTraffic;
  readonly open: OpenPreviews;
  readonly access: Access;
  readonly rights: HeldRights;
  /** Passes requests to the node of their sandbox. */
  readonly forwarding: Forwarding;
  readonly clientOf: ClientOfRequest;
  /**
   * Throws SANDBOX_NOT_FOUND and SANDBOX_NOT_RUNNING. Only a link continues any paused sandbox; others continue it if its
   * creator wanted that.
   */
  readonly reach: (sandboxId: string, hasLink: boolean, signal: AbortSignal) => Promise<ReachedSandbox>;
  /** Marks the sandbox as in use until the returned function is called. */
  readonly begin: (sandboxId: string) => () => void;
  /** The platform's public URL, for the scheme behind a TLS proxy. */
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A sandbox whose ports can be dialed. */
export interface ReachedSandbox extends Pick<Sandbox, 'requestHost'> {
  readonly connection: HelperConnection;
}

interface Admission extends CheckedPreview {
  readonly hasLink: boolean;
  readonly place: PreviewPlace;
  readonly target: string;
}

/** Forwards preview requests to the port in the sandbox. Handles every request for the preview domain. */
export class PreviewGateway {
  /** Must come before all other upgrade routes, because preview hosts serve no other paths. */
  readonly upgrades: UpgradeRoute;
  readonly #options: PreviewGatewayOptions;

  constructor(options: PreviewGatewayOptions) {
    this.#options = options;
    this.upgrades = {
      name: 'preview',
      hold: 'required',
      forwards: true,
      matches: (request) => parsePlace(request, options.domain) !== null,
      handle: (upgrade) => this.#upgrade(upgrade),
      drain: () => options.open.close(),
    };
  }

  /** Handles a preview request and returns true; leaves any other request untouched and returns false. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const place = parsePlace(request, this.#options.domain);
    if (place === null) return false;
    this.#serve(place, request, response).catch((error: unknown) => {
      const { status, code } = toAppError(error);
      if (status >= 500 && code === 'internal_error') this.#options.log.error({ err: error }, 'a preview failed');
      answerError(error, request, response);
    });
    return true;
  }

  async #serve(place: PreviewPlace, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (place.kind === 'path' && place.target === null) {
      response.writeHead(308, { location: `${place.prefix}/`, 'cache-control': 'no-store' }).end();
      return;
    }
    const admission = await this.#admit(place, request);
    const release = this.#options.rights.hold(admission.right, () => response.destroy());
    try {
      const { forwarding, clientOf } = this.#options;
      const client = clientOf(request);
      const forwarded = { ...placeOfOwner(admission), client, requestId: resolveRequestId(request.headers) };
      if (await forwarding.forwardRequest({ request, response }, forwarded)) return;
      await this.#serveHere(admission, request, response);
    } finally {
      release();
    }
  }

  async #serveHere(admission: Admission, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { place } = admission;
    const entry = this.#entryHeaders(admission, request);
    if (entry !== null && isNavigation(request)) {
      const location = `${this.#scheme(request)}://${place.host}${admission.target}`;
      response.writeHead(302, { ...entry, location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
      response.end();
      return;
    }
    request.socket.setTimeout(IDLE_MS);
    const leave = this.#enter(admission, request, () => response.destroy());
    let port: PortSocket | undefined;
    try {
      const dialed = await this.#dial(admission, response);
      port = dialed.port;
      const { origin } = request.headers;
      const answer = (given: IncomingMessage['headers']): OutgoingHttpHeaders =>
        withEntry(responseHeaders(given, place, origin), entry);
      const headers = await this.#requestHeaders(place, request, dialed.host);
      await forwardRequest({ request, response, port, target: admission.target, headers, answer });
    } finally {
      port?.destroy();
      leave();
    }
  }

  async #upgrade({ request, socket, head, hold, forward }: UpgradeRequest): Promise<void> {
    const place = parsePlace(request, this.#options.domain);
    if (place === null) throw sandboxErrors.PREVIEW_NOT_FOUND();
    const admission = await this.#admit(place, request);
    hold(admission.right); // any protocol: cut the connection when the right is lost
    const { owned, granted } = placeOfOwner(admission);
    if (await forward(owned, granted)) return;
    if (socket.destroyed) return; // the client left, and `close` is not emitted again
    const leave = this.#enter(admission, request, () => socket.destroy());
    socket.once('close', leave);
    const answered = noticeLeaving(socket);
    let port: PortSocket | undefined;
    try {
      const dialed = await this.#dial(admission, socket);
      port = dialed.port;
      const headers = await this.#requestHeaders(place, request, dialed.host);
      const answer = (given: IncomingMessage['headers']): OutgoingHttpHeaders =>
        withEntry(responseHeaders(given, place, request.headers.origin), this.#entryHeaders(admission, request));
      keepOpen(socket); // from here on, idle time is up to the upgraded protocol
      await forwardUpgrade({ request, socket, head, port, target: admission.target, headers, answer, answered });
    } catch (error) {
      answered();
      port?.destroy();
      leave();
      throw error;
    }
  }

  /** Also returns the host for the program; null if it is what the client asked for. */
  async #dial(
    { claim, hasLink }: Admission,
    client: ServerResponse | Duplex,
  ): Promise<{ port: PortSocket; host: string | null }> {
    const gone = new AbortController();
    if (client.destroyed) gone.abort();
    else client.once('close', () => gone.abort());
    const { connection, requestHost } = await this.#options.reach(claim.sandboxId, hasLink, gone.signal);
    const host = requestHost?.replaceAll('${PORT}', String(claim.port)) ?? null;
    return { port: await PortSocket.open(connection, claim.port, gone.signal), host };
  }

  #enter({ claim, isPublic }: Admission, request: IncomingMessage, cut: () => void): () => void {
    const address = isPublic ? this.#options.clientOf(request).remoteAddress : null;
    const leave = this.#options.open.enter({ ...claim, address }, cut);
    const end = this.#options.begin(claim.sandboxId);
    return () => {
      leave();
      end();
    };
  }

  async #admit(place: PreviewPlace, request: IncomingMessage): Promise<Admission> {
    if (place.kind === 'host' && place.named === null) throw sandboxErrors.PREVIEW_NOT_FOUND();
    const byQuery = place.kind === 'host' && place.queryToken !== null;
    const target = place.target ?? '/';
    if (!target.startsWith('/')) throw sandboxErrors.PREVIEW_NOT_FOUND();
    const open = byQuery ? null : await this.#admitOpen(place, request);
    if (open !== null) return { place, hasLink: false, ...open, target };
    if (!byQuery) assertOwnPage(place, request);
    const tokens =
      place.kind === 'path' ? [place.token] : byQuery ? [place.queryToken ?? ''] : this.#cookieTokens(request);
    const checked = await this.#options.links.check(tokens, place.kind === 'host' ? place.named : null);
    return { place, hasLink: true, ...checked, target };
  }

  /** Returns null if the request has to come by a link. */
  async #admitOpen(place: PreviewPlace, request: IncomingMessage): Promise<CheckedPreview | null> {
    if (place.kind === 'path' || place.named === null) return null;
    const token = request.headers[TRAFFIC_TOKEN];
    return this.#options.traffic.admit(place.named, {
      token: Array.isArray(token) ? token[0] : token,
      hasCookie: this.#cookieTokens(request).length > 0,
    });
  }

  /** Another sandbox on the domain may have set a cookie of the same name, so each one is tried. */
  #cookieTokens(request: IncomingMessage): string[] {
    return cookieValues(request.headers.cookie, PLATFORM_COOKIES.preview, this.#scheme(request) === 'https');
  }

  /** The first response to a link moves its token from the query to a cookie of that host. */
  #entryHeaders({ place, token, claim }: Admission, request: IncomingMessage): Record<string, string> | null {
    if (place.kind === 'path' || place.queryToken === null) return null;
    const leftMs = claim.expiresAtMs - this.#options.clock.nowMs();
    return { 'set-cookie': entryCookie(token, leftMs, this.#scheme(request) === 'https') };
  }

  async #requestHeaders(
    place: PreviewPlace,
    request: IncomingMessage,
    host: string | null,
  ): Promise<OutgoingHttpHeaders> {
    const { remoteAddress } = this.#options.clientOf(request);
    const dropAuthorization = await this.#isOurs(request, remoteAddress);
    const facts = { place, remoteAddress, scheme: this.#scheme(request), dropAuthorization };
    const headers = requestHeaders(request.headers, facts);
    if (host === null) return headers;
    delete headers.host;
    return { ...headers, Host: host }; // in the usual case: some programs compare names exactly
  }

  /** Whether the credential works on the platform. Such a credential is never passed to a sandbox. */
  async #isOurs({ headers: { authorization } }: IncomingMessage, remoteAddress: string): Promise<boolean> {
    if (authorization === undefined) return false;
    const source = { headers: { authorization }, method: 'GET', remoteAddress, isSecure: false };
    return this.#options.access.authenticate(source).then(
      () => true,
      (error: unknown) => toAppError(error).status !== 401,
    );
  }

  #scheme(request: IncomingMessage): 'http' | 'https' {
    return this.#options.clientOf(request).isSecure || this.#options.publicUrl().startsWith('https:')
      ? 'https'
      : 'http';
  }
}

function placeOfOwner({ claim, granted }: Admission): { owned: Owned; granted: GrantedAccess } {
  const workspaceUuid = granted.grant?.workspaceUuid ?? '';
  return { owned: { kind: SANDBOX, id: claim.sandboxId, workspaceUuid }, granted };
}

/**
 * Pages of other previews are same-site, so the browser sends the cookie with their requests: only the preview's own
 * pages may use it, though anyone may navigate to it. In the path form, the console's host must not load resources
 * (such as scripts) from a sandbox; there, requests of the preview's own pages are `cross-site`.
 */
function assertOwnPage(place: PreviewPlace, { headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  const opens = headers['sec-fetch-mode'] === 'navigate';
  const { origin } = headers;
  const refused =
    place.kind === 'path'
      ? !opens && site === 'same-origin'
      : (!opens && (site === 'same-site' || site === 'cross-site')) ||
        (headers.upgrade !== undefined && origin !== undefined && URL.parse(origin)?.host !== place.host);
  if (refused) throw sandboxErrors.ORIGIN_REFUSED({ details: { origin: origin ?? 'another page' } });
}

function withEntry(headers: OutgoingHttpHeaders, entry: Record<string, string> | null): OutgoingHttpHeaders {
  const cookie = entry?.['set-cookie'];
  if (cookie === undefined) return headers;
  const theirs = headers['set-cookie'];
  return { ...headers, 'set-cookie': [cookie, ...(Array.isArray(theirs) ? theirs : [])] };
}
