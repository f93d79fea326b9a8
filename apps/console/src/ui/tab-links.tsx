import { Link, type LinkProps } from '@tanstack/react-router';
import { classNames } from './class-names.ts';
import styles from './tab-links.module.css';

export interface TabLink {
  label: string;
  link: Pick<LinkProps, 'to' | 'params' | 'search'>;
  current: boolean;
  count?: number | undefined;
}

/** Pages that belong together, in one row. They are links, since each has its own URL. */
export function TabLinks({ label, tabs }: { label: string; tabs: readonly TabLink[] }) {
  return (
    <nav aria-label={label} className={styles['tabs']}>
      {tabs.map((tab) => (
        <Link
          key={tab.label}
          {...tab.link}
          resetScroll={false}
          className={classNames(styles['tab'], tab.current && styles['current'])}
          aria-current={tab.current ? 'page' : undefined}
        >
          {tab.label}
          {tab.count !== undefined && <span className={styles['count']}>{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}
