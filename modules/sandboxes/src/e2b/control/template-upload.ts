import { createHmac, type KeyObject } from 'node:crypto';
import type { GrantedAccess } from '@svc/access';
import { grantedAccessOf, grantOf, type HttpApp } from '@svc/http';
import type { Clock } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { isSame } from '../../domain/access/access-tokens.ts';
import type { TemplateFiles } from '../../domain/templates/template-files.ts';
import { sandboxErrors } from '../../errors.ts';
import { templateBuilder, wholeArchive } from '../../routes/template-routes.ts';
import { clientArchive } from './template-plan.ts';

const PURPOSE = 'svc-template-upload';
/** A client asks right before it sends. */
const LIFETIME_MS = 600_000;

export interface TemplateUploadDeps {
  readonly prefix: string;
  readonly key: () => Promise<KeyObject>;
  readonly uploads: TemplateFiles;
  readonly clock: Clock;
  readonly publicUrl: () => string;
}

interface UploadTicket {
  readonly hash: string;
  readonly untilMs: number;
  readonly granted: GrantedAccess;
}

/** A URL that takes the archive of one hash, for clients that send it without their key. The key's rights still count. */
export async function uploadUrl(
  request: FastifyRequest,
  hash: string,
  { prefix, key, clock, publicUrl }: TemplateUploadDeps,
): Promise<string> {
  const ticket: UploadTicket = { hash, untilMs: clock.nowMs() + LIFETIME_MS, granted: grantedAccessOf(request) };
  const payload = Buffer.from(JSON.stringify(ticket)).toString('base64url');
  const signature = signatureOf(payload, await key());
  // In the form of a JWT, whose signature logs leave out.
  return new URL(`${prefix}/template-files/${payload}.${signature}`, publicUrl()).href;
}

/** Takes archives at the URLs of `uploadUrl`. */
export async function registerTemplateUpload(app: HttpApp, deps: TemplateUploadDeps): Promise<void> {
  const { prefix, uploads } = deps;
  const params = Type.Object({ ticket: Type.String({ maxLength: 4300 }) });
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    scope.put(
      `${prefix}/template-files/:ticket`,
      {
        config: {
          action: 'template:create',
          rawBody: true,
          owned: templateBuilder,
          grantedEarlier: async (request) => (await readTicket(request, deps)).granted,
        },
        bodyLimit: Number.MAX_SAFE_INTEGER,
        schema: { hide: true, params },
      },
      async (request) => {
        const { hash } = await readTicket(request, deps);
        const { workspaceUuid } = grantOf(request);
        await uploads.write(workspaceUuid, clientArchive(hash), wholeArchive(request.raw), null);
        return {};
      },
    );
  });
}

/** Throws SIGNATURE_INVALID and SIGNATURE_EXPIRED. */
async function readTicket(request: FastifyRequest, { key, clock }: TemplateUploadDeps): Promise<UploadTicket> {
  const { ticket: text } = request.params as { ticket: string }; // the route's path has it
  const [payload = '', signature = ''] = text.split('.');
  if (!isSame(signature, signatureOf(payload, await key()))) throw sandboxErrors.SIGNATURE_INVALID();
  const ticket = JSON.parse(Buffer.from(payload, 'base64url').toString()) as UploadTicket; // signed by `uploadUrl`
  if (ticket.untilMs <= clock.nowMs()) throw sandboxErrors.SIGNATURE_EXPIRED();
  return ticket;
}

function signatureOf(payload: string, key: KeyObject): string {
  return createHmac('sha256', key).update(`${PURPOSE}\n${payload}`).digest('base64url');
}
