import { PLATFORM_COOKIES, type Principal } from '@svc/access';
import { type HttpApp, nullable, principalOf } from '@svc/http';
import { Type } from 'typebox';
import { assertInteractive } from '../domain/access/confirmed.ts';
import { accountErrors } from '../errors.ts';
import type { AccountServices } from '../domain/services.ts';
import { csrfTokenOf } from '../domain/sign-in/sessions.ts';
import { clearSessionCookie, readCookie } from './cookies.ts';
import { ownUser, sessionIdOf } from './own-user.ts';
import { endedSchema, scopeSchema, userSchema } from './schemas.ts';
import { toUserView } from './views.ts';
import { ENDS_OWN_RIGHT } from './unheld.ts';

const TAGS = ['accounts'];

const meSchema = Type.Object({
  user: nullable(userSchema),
  service_account: nullable(Type.Object({ id: Type.String(), name: Type.String(), scopes: Type.Array(scopeSchema) })),
  workspace_uuid: nullable(Type.String({ description: 'The default workspace' })),
  credential: Type.Object({ kind: Type.String(), id: nullable(Type.String()) }),
  csrf_token: nullable(
    Type.String({ description: 'Value for `X-CSRF-Token`; null if the request has no session cookie' }),
  ),
});

const logoutQuerySchema = Type.Object({ everywhere: Type.Optional(Type.Boolean()) });

export function registerAccount(app: HttpApp, services: AccountServices): void {
  app.get(
    '/api/auth/me',
    {
      config: { action: 'account:read', scope: 'self' },
      schema: { tags: TAGS, summary: 'Get the current user or service account', response: { 200: meSchema } },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      return describe(services, principalOf(request), readCookie(request, PLATFORM_COOKIES.session));
    },
  );

  app.post(
    '/api/auth/logout',
    {
      config: { action: 'session:delete', unheld: ENDS_OWN_RIGHT, scope: 'self', auditResource: ownUser },
      schema: {
        tags: TAGS,
        summary: 'Sign out; `everywhere` ends all sessions and access tokens of the user and requires a sign-in',
        querystring: logoutQuerySchema,
        response: { 200: endedSchema },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const isEverywhere = request.query.everywhere === true;
      if (isEverywhere) assertInteractive(principal);
      const ended = await (isEverywhere
        ? services.signOut.everywhere(principal.id)
        : services.signOut.here(sessionIdOf(principal)));
      clearSessionCookie(reply, request);
      return { sessions_ended: ended };
    },
  );
}

async function describe(services: AccountServices, principal: Principal, sessionSecret: string | undefined) {
  const { id, name, kind, credential, credentialId, scopes } = principal;
  const described = { credential: { kind: credential, id: credentialId } };
  if (kind === 'service_account') {
    return {
      ...described,
      user: null,
      service_account: { id, name, scopes: [...(scopes ?? [])] },
      workspace_uuid: principal.workspaceUuid ?? null,
      csrf_token: null,
    };
  }
  const user = await services.database.users.byId(id);
  if (user === undefined) throw accountErrors.UNAUTHORIZED();
  const workspace = await services.workspaces.default(id);
  const byCookie = credential === 'session' && sessionSecret !== undefined;
  return {
    ...described,
    user: toUserView(user),
    service_account: null,
    workspace_uuid: workspace?.uuid ?? null,
    csrf_token: byCookie ? csrfTokenOf(sessionSecret) : null,
  };
}
