import type { Kysely } from 'kysely';
import type { SandboxContext } from '../domain/context.ts';
import { EgressAuthorities } from '../domain/egress-rules/egress-authorities.ts';
import { RuleKeeper } from '../domain/egress-rules/rule-keeper.ts';
import { SecretService } from '../domain/secrets/secret-service.ts';
import type { Sealer, SecretRepository } from '../domain/secrets/secret.ts';
import { createEgressAuthorityRepository } from '../store/egress-authority-repository.ts';
import { createSecretRepository } from '../store/secret-repository.ts';
import type { SandboxTables } from '../store/tables.ts';

export interface SecretPart {
  readonly rules: RuleKeeper;
  readonly secrets: SecretService;
  readonly secretRepository: SecretRepository;
}

type Given = Pick<SandboxContext, 'repository' | 'driver' | 'clock' | 'random' | 'quotaLimits' | 'node' | 'log'>;

/** Secrets, and the rules that add them to requests. */
export function createSecretPart(kysely: Kysely<SandboxTables>, sealer: Sealer, given: Given): SecretPart {
  const secretRepository = createSecretRepository(kysely);
  const authorities = new EgressAuthorities({
    repository: createEgressAuthorityRepository(kysely),
    sealer,
    create: async (name) => {
      const { makeAuthority } = await import('@svc/certificates'); // takes megabytes; few platforms need it
      return makeAuthority(name, given.clock.now());
    },
  });
  const rules = new RuleKeeper({ ...given, secrets: secretRepository, authorities, sealer });
  const changed = (): void => rules.wake();
  return {
    rules,
    secrets: new SecretService({ ...given, repository: secretRepository, sealer, changed }),
    secretRepository,
  };
}
