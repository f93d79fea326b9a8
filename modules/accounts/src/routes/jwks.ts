import type { HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { AccountServices } from '../domain/services.ts';

const schema = {
  tags: ['accounts'],
  summary: "Get the public keys that verify the platform's tokens (JWKS, RFC 7517)",
  security: [],
  response: {
    200: Type.Object({
      keys: Type.Array(
        Type.Object({
          kty: Type.Literal('OKP'),
          crv: Type.Literal('Ed25519'),
          x: Type.String(),
          kid: Type.String(),
          alg: Type.Literal('EdDSA'),
          use: Type.Literal('sig'),
        }),
      ),
    }),
  },
};

export function registerJwks(app: HttpApp, services: AccountServices): void {
  // Public: it contains public keys only, and every verifier of a token needs them.
  app.get('/.well-known/jwks.json', { config: { public: true }, schema }, async (_request, reply) => {
    reply.header('cache-control', 'public, max-age=300');
    return services.keys.published();
  });
}
