import type { SandboxesConfig } from '../config.ts';
import type { Isolation, SandboxDriver } from './driver.ts';

export type IsolationSetting = SandboxesConfig['isolation'];

const ISOLATIONS: readonly Isolation[] = ['namespaces', 'gvisor'];

/** Isolation of a sandbox whose request specifies none. */
export function defaultIsolation(setting: IsolationSetting, hasGvisor: boolean): Isolation {
  if (setting === 'auto') return hasGvisor ? 'gvisor' : 'namespaces';
  return setting;
}

/** Whether programs inside call the kernel of the driver's machine directly. */
export function sharesKernel(isolation: Isolation): boolean {
  return isolation !== 'gvisor';
}

/** Decides the isolation of sandboxes from the configuration and the driver's current capabilities. */
export class IsolationPolicy {
  readonly #setting: IsolationSetting;
  readonly #driver: Pick<SandboxDriver, 'whyUnsupported'>;

  constructor(setting: IsolationSetting, driver: Pick<SandboxDriver, 'whyUnsupported'>) {
    this.#setting = setting;
    this.#driver = driver;
  }

  /** The policy of the operator for another driver. */
  of(driver: Pick<SandboxDriver, 'whyUnsupported'>): IsolationPolicy {
    return new IsolationPolicy(this.#setting, driver);
  }

  get default(): Isolation {
    return defaultIsolation(this.#setting, this.#driver.whyUnsupported('gvisor') === null);
  }

  /** Why a sandbox with default isolation shares the kernel or cannot be created; null if it runs on gVisor. */
  get reason(): string | null {
    return this.#setting === 'namespaces' ? 'sandboxes.isolation is namespaces' : this.#driver.whyUnsupported('gvisor');
  }

  /** Isolations available here. */
  allowed(): Isolation[] {
    return ISOLATIONS.filter((each) => this.refusal(each) === null);
  }

  /**
   * Why this isolation is refused; null if it is allowed. If the operator requires gVisor, no request gets a weaker
   * one.
   */
  refusal(isolation: Isolation): string | null {
    if (this.#setting === 'gvisor' && isolation !== 'gvisor') return 'the operator demands gvisor';
    return this.#driver.whyUnsupported(isolation);
  }

  /** Resolves `default`. Returns an explicit choice unchanged; `refusal` says whether it is allowed. */
  choose(wanted: Isolation | 'default'): Isolation {
    return wanted === 'default' ? this.default : wanted;
  }
}
