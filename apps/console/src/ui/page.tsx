import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { createContext, useContext, useState, type ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { classNames } from './class-names.ts';
import styles from './page.module.css';

export interface PageProps {
  title: string;
  /** One sentence below the title with the page's purpose. */
  description?: ReactNode;
  /** The parent page. */
  parent?: { label: string; link: Pick<LinkProps, 'to' | 'params'> };
  /** The page's main actions, next to the title. */
  actions?: ReactNode;
  /** Content between header and body, such as tabs. */
  navigation?: ReactNode;
  width?: 'normal' | 'narrow';
  children: ReactNode;
}

const ActionsSlot = createContext<HTMLElement | null>(null);

/** Adds a page's actions to the header of its layout. */
export function PageActions({ children }: { children: ReactNode }) {
  const slot = useContext(ActionsSlot);
  return slot === null ? null : createPortal(children, slot);
}

/** Frame of every page in the shell. Also sets the document's title. */
export function Page({ title, description, parent, actions, navigation, width = 'normal', children }: PageProps) {
  const [slot, setSlot] = useState<HTMLElement | null>(null);
  return (
    <div className={classNames(styles['page'], width === 'narrow' && styles['narrow'])}>
      <title>{`${title} · svc`}</title>
      <header className={styles['header']}>
        <div className={styles['heading']}>
          {parent !== undefined && (
            <Link {...parent.link} className={styles['parent']}>
              <ChevronLeft size={13} /> {parent.label}
            </Link>
          )}
          <h1>{title}</h1>
          {description !== undefined && <p className={styles['description']}>{description}</p>}
        </div>
        <div className={styles['actions']}>
          <div ref={setSlot} className={styles['slot']} />
          {actions}
        </div>
      </header>
      {navigation}
      <div className={styles['content']}>
        <ActionsSlot value={slot}>{children}</ActionsSlot>
      </div>
    </div>
  );
}

export interface SectionProps {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Section({ title, description, actions, children }: SectionProps) {
  return (
    <section className={styles['section']}>
      <header className={styles['sectionHeader']}>
        <div>
          <h2>{title}</h2>
          {description !== undefined && <p className={styles['description']}>{description}</p>}
        </div>
        {actions}
      </header>
      {children}
    </section>
  );
}

export function Panel({ children, padded = true }: { children: ReactNode; padded?: boolean }) {
  return <div className={classNames(styles['panel'], padded && styles['padded'])}>{children}</div>;
}

export interface ActionPanelProps {
  title: string;
  description: ReactNode;
  /** Absent if the role does not allow it; the description then gives the reason. */
  action?: ReactNode;
}

/** A settings row with one action and its description. */
export function ActionPanel({ title, description, action }: ActionPanelProps) {
  return (
    <section className={classNames(styles['panel'], styles['padded'], styles['action'])}>
      <div>
        <h2>{title}</h2>
        <p className={styles['description']}>{description}</p>
      </div>
      {action}
    </section>
  );
}

/** A list of names and values, for details. */
export function Definitions({ items }: { items: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles['definitions']}>
      {items.map(([name, value]) => (
        <div key={name} className={styles['definition']}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
