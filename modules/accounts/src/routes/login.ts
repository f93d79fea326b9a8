import { PLATFORM_COOKIES } from '@svc/access';
import { isAppError } from '@svc/errors';
import type { HttpApp } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { userPrincipal } from '../domain/access/principals.ts';
import { accountErrors } from '../errors.ts';
import type { AccountServices } from '../domain/services.ts';
import type { LoginRequest, SignedIn, SignInRefused } from '../domain/sign-in/sign-in.ts';
import { readCookie, setDeviceCookie, setSessionCookie } from './cookies.ts';
import { emailSchema, passwordSchema, userSchema } from './schemas.ts';
import { toUserView } from './views.ts';

const schema = {
  tags: ['accounts'],
  summary: 'Sign in with email and password',
  security: [],
  body: Type.Object({ email: emailSchema, password: passwordSchema }, { additionalProperties: false }),
  response: {
    200: Type.Object({
      access_token: Type.String(),
      token_type: Type.Literal('Bearer'),
      expires_in: Type.Integer({ description: 'Seconds' }),
      user: userSchema,
    }),
  },
};

export function registerLogin(app: HttpApp, services: AccountServices): void {
  // Public: a user who signs in has only the password.
  app.post('/api/auth/login', { config: { public: true }, schema }, async (request, reply) => {
    // A page of another site that signs a visitor in under its own account could watch the visitor's activity. Sibling
    // hosts count as other sites, because previews and tunnels are user content.
    if (isForeignPage(request)) throw accountErrors.CROSS_SITE_REQUEST();
    const { email, password } = request.body;
    const result = await attempt(services, {
      email,
      password,
      remoteAddress: request.ip,
      userAgent: request.headers['user-agent'] ?? '',
      deviceSecret: readCookie(request, PLATFORM_COOKIES.device) ?? null,
    });
    services.onSignIn(result.outcome);
    await auditSignIn(services, request, result, email);
    if (result.outcome === 'refused') throw accountErrors.INVALID_CREDENTIALS();
    const { user, session, sessionSecret, deviceSecret } = result;
    const lifetime = services.accessTokenLifetimeSeconds;
    const claims = { userId: user.id, sessionId: session.id, kind: 'user' } as const;
    const { token } = await services.jwt.issue(claims, lifetime);
    setSessionCookie(reply, request, sessionSecret, services.sessions.lifetimeSeconds);
    setDeviceCookie(reply, request, deviceSecret);
    reply.header('cache-control', 'no-store');
    return { access_token: token, token_type: 'Bearer' as const, expires_in: lifetime, user: toUserView(user) };
  });
}

/** Fetch Metadata, section 2.1. Programs send no such header, and a page cannot omit it. */
function isForeignPage({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site';
}

async function attempt(services: AccountServices, login: LoginRequest): Promise<SignedIn | SignInRefused> {
  try {
    return await services.signIn.login(login);
  } catch (error) {
    if (isAppError(error) && error.code === 'TOO_MANY_ATTEMPTS') services.onSignIn('throttled');
    throw error;
  }
}

/** Throttled attempts are counted only in the metrics, so that a flood cannot grow the log. */
async function auditSignIn(
  services: AccountServices,
  request: FastifyRequest,
  result: SignedIn | SignInRefused,
  email: string,
): Promise<void> {
  const success = result.outcome === 'success';
  const userId = success ? result.user.id : result.userId;
  await services.audit.record({
    principal: success ? userPrincipal(result.user, 'session', result.session.id) : null,
    action: 'session:create',
    resource: userId === null ? 'user' : `user/${userId}`,
    workspaceUuid: null,
    outcome: result.outcome,
    status: success ? 200 : 401,
    remoteAddress: request.ip,
    requestId: request.id,
    // An unknown e-mail may be a password entered in the wrong field, so it is not stored.
    details: userId === null ? {} : { email },
  });
}
