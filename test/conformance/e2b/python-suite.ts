import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensurePython } from '../../clients/python.ts';
import type { Outcome } from '../outcome.ts';
import { runPytest } from '../pytest.ts';
import { outcomesOf } from '../pytest-report.ts';
import { PYTHON_PACKAGE } from './checkout.ts';
import type { SuitePass } from './suite-pass.ts';

const REQUIREMENTS = new URL('requirements.txt', import.meta.url);
const HOOKS = fileURLToPath(new URL('python/', import.meta.url));

/** Runs the tests of the SDK in the checkout; its dependencies come from the registry. */
export async function runPython(checkout: string, pass: SuitePass): Promise<Outcome[]> {
  const python = await ensurePython(REQUIREMENTS);
  const source = join(checkout, PYTHON_PACKAGE);
  const phases = await runPytest({
    command: [...pass.wrapper, python],
    folder: source,
    imports: [HOOKS, source],
    environment: pass.environment,
    args: [
      '--tb=short',
      '-n',
      String(pass.workers),
      ...(pass.pattern === undefined ? [] : ['-k', pass.pattern]),
      ...(pass.tests?.map((name) => `tests/${name}`) ?? ['tests']),
    ],
    log: join(pass.folder, `${pass.name}.log`),
    report: join(pass.folder, `${pass.name}.jsonl`),
    signal: pass.signal,
  });
  return outcomesOf(phases).map((outcome) => ({ ...outcome, name: outcome.name.replace(/^tests\//, '') }));
}
