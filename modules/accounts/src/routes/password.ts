import { type HttpApp, principalOf } from '@svc/http';
import { Type } from 'typebox';
import { assertConfirmed, CONFIRMED_FOR_SECONDS } from '../domain/access/confirmed.ts';
import { userPrincipal } from '../domain/access/principals.ts';
import { secondsAfter, timestamp } from '../domain/timestamps.ts';
import { accountErrors } from '../errors.ts';
import type { AccountServices } from '../domain/services.ts';
import { ownUser, sessionIdOf } from './own-user.ts';
import { endedSchema, idSchema, passwordSchema, timestampSchema } from './schemas.ts';
import { ENDS_OWN_RIGHT } from './unheld.ts';

const TAGS = ['accounts'];
/** Guessing 256 bits is infeasible; this only limits the noise. */
const LINK_ATTEMPTS = { by: 'address', perMinute: 30, burst: 30 } as const;
/** Above what people type; password checks are throttled per account. */
const CONFIRM_ATTEMPTS = { by: 'principal', perMinute: 30, burst: 30 } as const;

/** Routes that confirm, change and set passwords. */
export function registerPassword(app: HttpApp, services: AccountServices): void {
  addConfirmRoute(app, services);
  addChangeRoute(app, services);
  addLinkRoute(app, services);
}

function addConfirmRoute(app: HttpApp, services: AccountServices): void {
  app.post(
    '/api/auth/confirm',
    {
      config: { action: 'session:confirm', scope: 'self', auditResource: ownUser, rateLimit: CONFIRM_ATTEMPTS },
      schema: {
        tags: TAGS,
        summary:
          'Confirm the sign-in with the password; it can then change the password, API tokens and SSH keys for ten minutes',
        body: Type.Object({ password: passwordSchema }, { additionalProperties: false }),
        response: { 200: Type.Object({ confirmed_until: timestampSchema }) },
      },
    },
    async (request) => {
      const principal = principalOf(request);
      const sessionId = sessionIdOf(principal);
      if (sessionId === null) {
        assertConfirmed(principal, services.now());
        // Only an external issuer's token from a recent sign-in gets here.
        return { confirmed_until: confirmedUntil(principal.confirmedAt ?? timestamp(services.now())) };
      }
      const user = await services.database.users.byId(principal.id);
      if (user === undefined) throw accountErrors.UNAUTHORIZED();
      const { password } = request.body;
      await services.passwordProof.require({ user, password, remoteAddress: request.ip, field: 'password' });
      return { confirmed_until: confirmedUntil(timestamp(await services.sessions.confirm(sessionId))) };
    },
  );
}

function addChangeRoute(app: HttpApp, services: AccountServices): void {
  app.post(
    '/api/auth/password',
    {
      config: { action: 'account:update', unheld: ENDS_OWN_RIGHT, scope: 'self', auditResource: ownUser },
      schema: {
        tags: TAGS,
        summary:
          'Change your password; requires a sign-in confirmed in the last ten minutes and ends all other sessions',
        body: Type.Object(
          { current_password: passwordSchema, new_password: passwordSchema },
          { additionalProperties: false },
        ),
        response: { 200: endedSchema },
      },
    },
    async (request) => {
      const principal = principalOf(request);
      const ended = await services.passwordChange.change({
        userId: principal.id,
        currentPassword: request.body.current_password,
        newPassword: request.body.new_password,
        keepSessionId: sessionIdOf(principal),
        remoteAddress: request.ip,
      });
      return { sessions_ended: ended };
    },
  );
}

function addLinkRoute(app: HttpApp, services: AccountServices): void {
  app.post(
    '/api/auth/password/link',
    {
      // Public: the link's token is the credential.
      config: { public: true, rateLimit: LINK_ATTEMPTS },
      schema: {
        tags: TAGS,
        summary: 'Set the password with a single-use link from an operator; ends all sessions',
        security: [],
        body: Type.Object({ token: idSchema, new_password: passwordSchema }, { additionalProperties: false }),
        response: { 200: endedSchema },
      },
    },
    async (request) => {
      const { token, new_password: password } = request.body;
      const { user, sessionsEnded } = await services.passwordLinks.use(token, password, request.ip);
      await services.audit.record({
        principal: userPrincipal(user, 'session', null),
        action: 'password-link:use',
        resource: `user/${user.id}`,
        workspaceUuid: null,
        outcome: 'success',
        status: 200,
        remoteAddress: request.ip,
        requestId: request.id,
      });
      return { sessions_ended: sessionsEnded };
    },
  );
}

function confirmedUntil(confirmedAt: string): string {
  return timestamp(secondsAfter(new Date(confirmedAt), CONFIRMED_FOR_SECONDS));
}
