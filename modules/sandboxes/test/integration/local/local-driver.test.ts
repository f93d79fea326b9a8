import { skippedTitle } from '@svc/testing';
import { describe } from 'vitest';
import { buildContract } from '../../contract/build-contract.ts';
import { driverContract, type ContractSubject } from '../../contract/driver-contract.ts';
import { localDriverReason, localSubject } from '../../support/local-subject.ts';
import { runningContract } from '../../contract/running-contract.ts';
import { sampleSpec } from '../../support/sample-spec.ts';

for (const runtime of ['builtin', 'crun', 'runc'] as const) {
  const reason = localDriverReason(runtime);
  const title = `LocalDriver with ${runtime}`;
  describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
    const make = async (): Promise<ContractSubject> => {
      const { driver, again, dispose } = await localSubject(runtime);
      return { driver, spec: (name) => sampleSpec(`${name}-${runtime}`, { network: 'egress' }), again, dispose };
    };
    describe('as a driver', () => driverContract(make));
    describe('with programs', () => runningContract(make));
    describe('making images', () => buildContract(make));
  });
}
