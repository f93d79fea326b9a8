import { runCommand } from './commands.ts';

export interface Kubectl {
  /** Returns standard output; fails with kubectl's error output. */
  (...args: string[]): Promise<string>;
  /** `kubectl apply -f -` and the like: passes the text on standard input. */
  withInput(input: string, ...args: string[]): Promise<string>;
}

export function kubectlFor(program: string, kubeconfig: string): Kubectl {
  // A proxy in the environment must not intercept calls to a cluster on this machine.
  const env = { ...process.env, KUBECONFIG: kubeconfig, NO_PROXY: '*', no_proxy: '*' };
  const withInput = async (input: string, ...args: string[]): Promise<string> =>
    (await runCommand(program, args, { env, input })).stdout;
  return Object.assign((...args: string[]) => withInput('', ...args), { withInput });
}
