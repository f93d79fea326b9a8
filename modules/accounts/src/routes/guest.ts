import type { HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { guestPrincipal } from '../domain/access/principals.ts';
import type { AccountServices } from '../domain/services.ts';
import { timestampSchema } from './schemas.ts';

const schema = {
  tags: ['accounts'],
  summary: 'Sign in as a guest, for smoke tests; disabled by default',
  security: [],
  body: Type.Object(
    {
      username: Type.String({ minLength: 2, maxLength: 30, pattern: '^[A-Za-z0-9_-]+$' }),
      // Existing clients send it. It is not stored: an unverified e-mail must not lead to anyone's sandbox.
      email: Type.Optional(Type.String({ maxLength: 254 })),
    },
    { additionalProperties: false },
  ),
  response: {
    200: Type.Object({
      token: Type.String(),
      token_type: Type.Literal('Bearer'),
      expires_in: Type.Integer({ description: 'Seconds' }),
      expires_at: timestampSchema,
      guest: Type.Literal(true),
      user: Type.Object({
        id: Type.String(),
        username: Type.String(),
        email: Type.String({ description: 'Always empty' }),
        tier: Type.Literal('guest'),
      }),
      containers: Type.Integer({ description: 'Maximum number of sandboxes of the guest' }),
    }),
  },
};

export function registerGuest(app: HttpApp, services: AccountServices): void {
  // Public: guests have no credential.
  app.post('/api/auth/guest', { config: { public: true }, schema }, async (request, reply) => {
    const { token, expiresAt, user } = await services.guests.signIn(request.body.username, request.ip);
    await services.audit.record({
      principal: guestPrincipal(user),
      action: 'guest:create',
      resource: `user/${user.id}`,
      workspaceUuid: null,
      outcome: 'success',
      status: 200,
      remoteAddress: request.ip,
      requestId: request.id,
    });
    reply.header('cache-control', 'no-store');
    return {
      token,
      token_type: 'Bearer' as const,
      expires_in: Math.round((expiresAt.getTime() - Date.parse(user.createdAt)) / 1000),
      expires_at: expiresAt.toISOString(),
      guest: true as const,
      user: { id: user.id, username: user.name, email: '', tier: 'guest' as const },
      containers: services.guestSandboxes,
    };
  });
}
