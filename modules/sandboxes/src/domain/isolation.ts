import type { SandboxesConfig } from '../config.ts';
import type { Isolation, SandboxDriver } from './driver.ts';

export type IsolationSetting = SandboxesConfig['isolation'];

const ISOLATIONS: readonly Isolation[] = ['namespaces', 'gvisor'];

/** What a sandbox that asks for nothing gets. */
export function defaultIsolation(setting: IsolationSetting, hasGvisor: boolean): Isolation {
  if (setting === 'auto') return hasGvisor ? 'gvisor' : 'namespaces';
  return setting;
}

/** Whether programs inside call the kernel of the machine that the driver runs on. */
export function sharesKernel(isolation: Isolation): boolean {
  return isolation !== 'gvisor';
}

/** The isolation of sandboxes by the configuration and what the driver can do now. */
export class IsolationPolicy {
  readonly #setting: IsolationSetting;
  readonly #driver: Pick<SandboxDriver, 'whyUnsupported'>;

  constructor(setting: IsolationSetting, driver: Pick<SandboxDriver, 'whyUnsupported'>) {
    this.#setting = setting;
    this.#driver = driver;
  }

  get default(): Isolation {
    return defaultIsolation(this.#setting, this.#driver.whyUnsupported('gvisor') === null);
  }

  /** Why a sandbox that asks for nothing shares the kernel, or cannot be made at all; null behind gVisor. */
  get reason(): string | null {
    return this.#setting === 'namespaces' ? 'sandboxes.isolation is namespaces' : this.#driver.whyUnsupported('gvisor');
  }

  /** What a sandbox may have here. */
  allowed(): Isolation[] {
    return ISOLATIONS.filter((each) => this.refusal(each) === null);
  }

  /** Why a sandbox may not have this isolation; null when it may. Where the operator demands gVisor, no request gets less. */
  refusal(isolation: Isolation): string | null {
    if (this.#setting === 'gvisor' && isolation !== 'gvisor') return 'the operator demands gvisor';
    return this.#driver.whyUnsupported(isolation);
  }

  /** What was asked for stands for; `refusal` says whether it may be had. */
  choose(wanted: Isolation | 'default'): Isolation {
    return wanted === 'default' ? this.default : wanted;
  }
}
