import { describeRequiring } from '@svc/testing';
import { localSubject } from '@svc/sandboxes/testing/local-subject';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { ensureGvisor } from '../gvisor/binaries.ts';
import { escapeTable } from './escape-table.ts';
import { LACKED_BY_GVISOR, WITHIN_GVISOR } from './own-kernel.ts';
import { ESCAPE_REQUIREMENTS } from './requirements.ts';

const NEEDED = ['cgroups', 'command:mkfs.ext4', 'command:nft', 'command:busybox', ...ESCAPE_REQUIREMENTS] as const;

describeRequiring(NEEDED, 'the escape table behind gVisor', () => {
  escapeTable(
    async () => {
      const runsc = (await ensureGvisor()).program;
      const { driver, again, dispose } = await localSubject('builtin', { runsc });
      const config = { driver: 'local', isolation: 'gvisor', runsc } as const;
      return { driver, spec: (name) => sampleSpec(name, { isolation: 'gvisor' }), config, again, dispose };
    },
    { count: 20_000, diskMb: 64 },
    { within: WITHIN_GVISOR, lacks: LACKED_BY_GVISOR },
  );
});
