#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Break the perf core in named ways; every break must turn the host lane red.

usage: mutants.py BUILD-DIR [--quick] [NAME...]     the directory holds the objects of `make check`
--quick takes one of twelve, and does not mind those that the code has left behind: a check in passing that
the suite can fail at all. The whole list belongs to every change of the core.
A mutant is (name, file, text, replacement); the text must occur exactly once.
"""
import glob, os, shutil, subprocess, sys

TOP = os.path.dirname(os.path.abspath(__file__))
PERF = os.path.normpath(TOP + "/../../kernel/perf")
M = [
 ("skip-the-wrap", "hot.h", "u64 delta = count_since(e, raw);",
  "u64 delta = raw > e->hw.prev ? count_since(e, raw) : 0;"),
 ("read-skips-the-wrap", "hot.h", "return (raw - e->hw.prev) << above >> above;", "return raw - e->hw.prev;"),
 ("lose-the-overflow-slice", "count.c", "\tcount_fold(e, ops->read_paused(pp->pmu, &e->hw));\n\tdue = ", "\tdue = "),
 ("no-half-range-start", "hot.h", "0 : -half_range(e);", "0 : 1;"),
 ("late-is-lost", "hot.h", "\t\te->period_left += period;\n\te->last_period", "\t\te->period_left = period;\n\te->last_period"),
 ("late-for-ever", "hot.h", "if (e->period_left <= -period)", "if (0)"),
 ("every-chunk-is-a-sample", "count.c", "due = is_sampling(e) && e->period_left <= 0;", "due = is_sampling(e);"),
 ("rest-of-the-parent", "inherit.c", "e->period_left = (s64)from->sample_period;", "e->period_left = from->period_left;"),
 ("reload-without-baseline", "count.c", "e->hw.prev = start_value(e);\n\te->pmu->ops->write(e->pmu, &e->hw, e->hw.prev);",
  "e->pmu->ops->write(e->pmu, &e->hw, start_value(e));"),
 ("stop-without-fold", "count.c", "count_fold(e, pp->pmu->ops->stop(pp->pmu, hw));", "pp->pmu->ops->stop(pp->pmu, hw);"),
 ("keep-the-slot", "count.c", "pp->seats->slot[hw->counter] = NULL;", ""),
 ("forget-used", "count.c", "pp->seats->used &= ~hw->taken;", ""),
 ("forget-pinned-mask", "count.c", "pp->seats->pinned &= ~hw->taken;", ""),
 ("tick-never-looks", "count.c", "\telse if (pp->pmu->caps & PMU_NO_INTERRUPT)\n\t\tcount_read(e);", ""),
 ("partial-group", "place.c", "\t\tfor (undo = leader; undo != e; undo = group_next(leader, undo)) {\n\t\t\tundo->hw.counter = -1;\n\t\t\tundo->hw.taken = 0;\n\t\t}\n\t\treturn false;",
  "\t\t(void)undo;\n\t\tbreak;"),
 ("no-rollback", "place.c", "undo->hw.counter = -1;", ""),
 ("overtake", "place.c", "if (!group_satisfiable(pp, g) && ++skipped <= PLACE_SKIPS)", "if (1)"),
 ("wait-for-the-impossible", "place.c", "if (!group_satisfiable(pp, g) && ++skipped <= PLACE_SKIPS)", "if (0)"),
 ("pinned-cannot-push", "place.c", "\t\tevict_flexible(pp);\n\t\tif (group_place(pp, g))", "\t\tif (group_place(pp, g))"),
 ("cpu-pinned-cannot-push", "place.c", "if (!is_tasks(ctx) && task) {", "if (0) {"),
 ("pinned-waits", "place.c", "\t\tpinned_failed(g);", "\t\t;"),
 ("ignore-exclusive", "place.c", "(leader->attr.exclusive && !list_empty(&pp->seats->active))", "false"),
 ("off-members-count-at-open", "place.c", "(state >= PERF_ON || (state == PERF_OFF && e->on_exec))", "state > PERF_GONE"),
 ("error-without-pmu", "place.c", "\tif (!pp->online)\n\t\treturn;", ""),
 ("no-settle-at-evict", "place.c", "\t\tstop_running(e, now);\n", ""),
 ("only-one-of-many", "place.c", "pp->seats->nr_active + 1 != nr_listed(pp)", "0"),
 ("only-one-elsewhere", "place.c", "(leader->bucket != &ctx->any && leader->bucket != ctx->here) || ", ""),
 ("nobody-seems-to-wait", "place.c", "if (pp->seats->nr_active != nr_listed(pp))", "if (!pp->seats->nr_active)"),
 ("parked-still-active", "park.c", "\tpp->seats = pp->own;\n\tctx->parked", "\tctx->parked"),
 ("returned-not-active", "park.c", "\tpp->seats = s;\n\tpp->run", "\tpp->run"),
 ("stay-with-who-leaves", "park.c", "if (from != own && from->nr_active) {", "if (0) {"),
 ("no-stamp-at-place", "place.c", "\t\te->rstamp = now;\t/* enabled time goes on unsettled */", ""),
 ("two-looks-at-the-clock", "place.c", "if (task && task != fresh)", "if (task)"),
 ("never-rotate", "rotate.c", "\t\tgroup_requeue(head);", ""),
 ("impossible-takes-a-turn", "rotate.c", "could = head->group.placed || group_satisfiable(pp, head);", "could = true;"),
 ("rotate-always", "rotate.c", "\tif (!unmet(pp))\n\t\treturn;", "\tif (!unmet(pp)) { rotate_want(pp); return; }"),
 ("no-own-clock-rotation", "rotate.c", "return ctx->unmet[i] && ctx->time", "return false && ctx->time"),
 ("nobody-moves-over", "place.c", " || place_by_move(pp, g))", ")"),
 ("moves-without-a-place", "place.c", " && fits(g, &free) && fits(p, &free);", " && fits(g, &free);"),
 ("nobody-moves-in-a-turn", "rotate.c", "\t\tif (pp->seats->used == pp->pmu->counters)\n\t\t\treturn;", "\t\treturn;"),
 ("cpu-first-in-turns", "rotate.c", "\tplace_flexible(pp, task ? task : cpu, task && cpu_takes_part(pp) ? cpu : NULL);",
  "\tplace_flexible(pp, cpu, NULL);\n\tif (task)\n\t\tplace_flexible(pp, task, NULL);"),
 ("no-backfill", "event.c", "\tevent_set_state(e, PERF_OFF);\n\tresched_ctx(ctx, e->leader->group.pmu);", "\tevent_set_state(e, PERF_OFF);\n\tcpu_commit(this_perf_cpu());"),
 ("member-ignores-leader", "core.h", "return e->state >= PERF_ON && e->leader->state >= PERF_ON;", "return e->state >= PERF_ON;"),
 ("reset-forgets-live-part", "event.c", "\t\tevent_update(e);\n\t\tHOST_PAUSE(\"reset\");", "\t\tevent_settle(e);"),
 ("no-settle-at-reset", "event.c", "\t\tevent_update(e);\n\t\tHOST_PAUSE(\"reset\");", "\t\tif (is_placed(e))\n\t\t\tcount_read(e);"),
 ("filter-runs-everywhere", "hot.h", "return e->leader->group.pmu ? e->ctx->time : e->bucket->time;", "return e->ctx->time;"),
 ("double-fold", "inherit.c", "root->child_count + child->count);", "root->child_count + 2 * child->count);"),
 ("lose-exited-time", "inherit.c", "root->child_enabled + child->enabled);", "root->child_enabled);"),
 ("take-the-roots-state", "inherit.c", "e->state = from->state >= PERF_ON ? PERF_ON : PERF_OFF;", "e->state = root->state >= PERF_ON ? PERF_ON : PERF_OFF;"),
 ("lone-copies", "inherit.c", "if (m != from && !inherit_one(m, b, leader))", "if (m != from && !inherit_one(m, b, NULL))"),
 ("old-group-generation", "inherit.c", "leader->group.generation = from->group.generation;", ""),
 ("fork-ignores-failure", "inherit.c", "\tif (err)\n\t\tdrop_copies(&b);", ""),
 ("all-are-clones", "inherit.c", "\t\t*all &= alike(e);", ""),
 ("copies-outlive-close", "file.c", "\tfamily_kill(e);\n", "\tlist_init(&e->children);\n"),
 ("only-the-root", "inherit.c", "\tlist_for_each(c, &root->children, child_node)\n\t\tevent_do(c, fn, c);", "\t(void)c;"),
 ("no-echild", "read.c", "if (leader != root && (leader", "if (0 && (leader"),
 ("unsettled-read", "read.c", "event_times_now(r->e, &enabled, &running);", "enabled = r->e->enabled, running = r->e->running;"),
 ("group-read-without-clocks", "hot.h", "if (e->kind == PERF_KIND_CLOCK && is_running(e))", "if (0)"),
 ("group-read-without-times", "read.c", "event_times_now(leader, &enabled, &running);", "enabled = leader->enabled, running = leader->running;"),
 ("group-read-without-members", "read.c", "PUT(event_count_now(e) + e->child_count);", "PUT((e == leader ? event_count_now(e) : e->count) + e->child_count);"),
 ("short-way-for-families", "hot.h", "bool here = !e->attr.inherit && ctx_is_here", "bool here = ctx_is_here"),
 ("short-way-to-anywhere", "hot.h", "bool here = !e->attr.inherit && ctx_is_here(this_perf_cpu(), ctx);", "bool here = !e->attr.inherit && ctx;"),
 ("short-read-ignores-size", "read.c", "return n * 8 <= size ? (long)n * 8 : -ENOSPC;", "return (long)n * 8;"),
 ("short-read-of-the-failed", "read.c", "\tif (READ_ONCE(e->state) == PERF_ERROR)\n\t\treturn 0;\n\tif (!(group", "\tif (!(group"),
 ("read-forgets-exited", "read.c", "struct read_one r = { e, e->child_count,", "struct read_one r = { e, 0,"),
 ("exec-keeps-clone", "task.c", "\t\tWRITE_ONCE(ctx->clone_id, 0);\t/* differs", "\t\t/* differs"),
 ("swap-pinned", "switch.c", "&& !a->noswap &&\n\t       !b->noswap", ""),
 ("swap-without-owner", "switch.c", "\t\tWRITE_ONCE(a->task, next->task);", ""),
 ("in-without-clock", "context.c", "\t\tctx->stamp = now;\n\t\tctx->here", "\t\tctx->here"),
 ("out-without-clock", "context.c", "\tctx_clock_at(ctx, now);\n\tfor", "\tfor"),
 ("no-retry-after-move", "context.c", "while (r.elsewhere >= 0) {", "if (r.elsewhere >= 0) {"),
 ("attach-clears-no-clone", "context.c", "\tWRITE_ONCE(ctx->clone_id, 0);\n\tevent_restamp(e);\n}", "\tevent_restamp(e);\n}"),
 ("no-visit-of-runners", "attach.c", "(void)host_call_on_cpu(c, bring_in, ctx);", ";"),
 ("join-while-placed", "attach.c", "\tif (r->leader && r->leader->group.placed)\n\t\tgroup_evict(r->leader);", ""),
 ("tombstone-forgotten", "task.c", "\tif (!pt && __atomic_compare_exchange_n(host_task_slot(t), &none, &tombstone, false,\n\t\t\t\t\t       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {", "\t(void)none;\n\tif (!pt) {"),
 ("open-on-the-dead", "attach.c", "if (pt->dead) {", "if (0) {"),
 ("exec-flag-for-ever", "task.c", "\t\te->on_exec = false;", ""),
 ("setid-keeps-events", "task.c", "\tif (unlikely(privileged))", "\tif (0)"),
 ("exit-settles-late", "task.c", "\t\tevent_settle(e);\t/* all,", "\t\t;\t/* all,"),
 ("promotion-lost", "group.c", "\t\t\tstand_alone(m, e->group.order);", "\t\t\tm->leader = m;"),
 ("no-restamp-on-repmu", "group.c", "\tif (leader->ctx)\n\t\tfor_each_member(m, leader)\n\t\t\tevent_restamp(m);\n}", "}"),
 ("soft-ignores-exclude", "sw.c", "|| excluded(e, h->user))", ")"),
 ("paranoid-off-by-one", "core.h", "return sysctl_paranoid() <= level", "return sysctl_paranoid() <= level + 1"),
 ("free-context-at-once", "attach.c", "!was_in && c < host", "0 && c < host"),
 ("enter-the-dead", "context.c", "\tdead = ctx->dead;", "\tdead = false;"),
 ("user-sees-cpu-wide", "userpage.c", "\tif (pp->seats->foreign)\n\t\tctx = NULL;\n", ""),
 ("user-access-for-ever", "userpage.c", "task && task->nr_user && sysctl_user_access()", "(task && task->nr_user && sysctl_user_access()) || pc->pmu[i].user"),
 ("index-while-closed", "userpage.c", "if (is_placed(e) && this_perf_cpu()->pmu[e->pmu->index].user == e->ctx)", "if (is_placed(e))"),
 ("offset-without-sign", "userpage.c", "return (s64)(raw << (64 - width)) >> (64 - width);", "return (s64)raw;"),
 ("page-times-stale", "userpage.c", "event_times_now(e, &enabled, &running);", "enabled = e->enabled, running = e->running;"),
 ("page-not-refreshed", "place.c", "\t\tpp->cpu->stale |= is_tasks(ctx) ? STALE_TASK : STALE_CPU;", "\t\t;"),
 ("park-without-count", "hot.h", "\t\tcount_fold(e, stop(pp->pmu, &e->hw));", "\t\tstop(pp->pmu, &e->hw);"),
 ("look-at-the-parked", "context.c", "\t\tif (ctx->parked)\n\t\t\tunpark_all(ctx);\n", ""),
 ("return-beside-others", "park.c", "return is_free(pp) && (!READ", "return (!READ"),
 ("park-other-cpu-filter", "park.c", "(!READ_ONCE(ctx->bycpu) || s->cpu == pp->cpu->id)", "true"),
 ("park-forgets-rotation", "rotate.c", "\trotate_want(pp);\n\tif (is_due", "\tif (is_due"),
 ("unpark-without-time", "park.c", "\t\tgroup_settle(g);", ""),
 ("born-beside-who-waits", "park.c", "pp->seats->nr_active != ctx->nr_groups[i] || ", ""),
 ("born-on-other-counters", "park.c", "s->used = pp->seats->used;", "s->used = 0;"),
 ("stale-overflow-flags", "park.c", "\tpp->run.forget |= s->used;\n\tpp->run.counters =", "\tpp->run.counters ="),
 ("first-goes-last", "rotate.c", "\t\telse if (could)\n\t\t\treturn false;\n", ""),
 ("interval-fixed", "rotate.c", "READ_ONCE(pp->pmu->mux_interval_ms)", "4"),
 ("jitter-too-long", "rotate.c", "interval(pp) / 4 *", "interval(pp) *"),
 ("short-attr-keeps-tail", "attr.c", "if (size < sizeof(*attr))", "if (0)"),
 ("plain-with-a-period", "core.h", "!(a->sample_period | (a->", "!((a->"),
 ("members-take-no-room", "group.c", "WRITE_ONCE(leader->group.demand, leader->group.demand + event_demand(e));", ""),
 ("wide-takes-one", "core.h", "e->hw.flags ? 1u << 16 : 1;", "1;"),
 ("removed-event-wakes-nobody", "task.c", "\t\thost_waitq_wake(&e->waitq, HOST_POLLHUP);	/* who", "\t\t;	/* who"),
 ("setid-keeps-owned", "task.c", "\twhile (!list_empty(&pt->owned))\n\t\tlist_del(pt->owned.next);\n", ""),
 ("ask-who-has-left", "switch.c", "place_after_switch(pc, next ? pmus | next->wanted", "place_after_switch(pc, next ? prev->wanted | next->wanted"),
 # --- sampling
 ("ring-fills-completely", "ring.c", "return (tail - head - 1) & (r->size - 1);", "return tail == head ? r->size : (tail - head) & (r->size - 1);"),
 ("inner-writer-publishes", "ring.h", "if (likely(!w->inner) && unlikely(", "if (unlikely("),
 ("nest-leaks-when-full", "ring.c", "\t\t\tring_publish(w);\n\t\t\treturn false;", "\t\t\treturn false;"),
 ("full-hides-the-inner", "ring.c", "\t\t\tring_publish(w);\n\t\t\treturn false;", "\t\t\tr->nest = w->inner;\n\t\t\treturn false;"),
 ("publish-looks-once", "ring.h", "return likely(head == READ_ONCE(r->head));", "return true;"),
 ("no-turns-in-a-crowd", "ring.c", "w->turn = READ_ONCE(r->crowded);", "w->turn = false;"),
 ("overwrite-wants-room", "ring.c", "(overwrite ? r->size : room) < size", "room < size"),
 ("trust-the-page", "ring.c", "u64 place = pos & (r->size - 1);", "u64 place = pos & (r->control->data_size - 1);"),
 ("backward-goes-forward", "ring.c", "at_position(r, backward ? next : head)", "at_position(r, head)"),
 ("watermark-too-early", "ring.c", "- woken > r->watermark) &&", "- woken >= r->watermark) &&"),
 ("lost-not-counted", "record.c", "unsaid + 1, __ATOMIC", "unsaid, __ATOMIC"),
 ("losses-forgotten-when-full", "record.c", "unsaid + 1, __ATOMIC", "1, __ATOMIC"),
 ("lost-of-the-copy", "record.c", "__atomic_fetch_add(&e->root->lost, 1", "__atomic_fetch_add(&e->lost, 1"),
 ("lost-said-twice", "record.c", "__atomic_exchange_n(&r->lost, 0, __ATOMIC_RELAXED)", "r->lost"),
 ("losses-not-taken-at-once", "record.c", "__atomic_exchange_n(&r->lost, 0, __ATOMIC_RELAXED)", "({ u64 l = READ_ONCE(r->lost); WRITE_ONCE(r->lost, 0); l; })"),
 ("lost-without-trailer", "record.c", "\tring_u64(w, lost);\n\ttrailer_put(w, e);", "\tring_u64(w, lost);"),
 ("trailer-order", "record.c", "\tif (type & PERF_SAMPLE_TIME)\n\t\tring_u64(w, record_time(e));\n\tif (type & PERF_SAMPLE_ID)\n\t\tring_u64(w, e->root->id);", "\tif (type & PERF_SAMPLE_ID)\n\t\tring_u64(w, e->root->id);\n\tif (type & PERF_SAMPLE_TIME)\n\t\tring_u64(w, e->root->id);\n\tring_u64(w, 0);"),
 ("no-signal-at-the-watermark", "record.c", "if (unlikely(host_file_async(root->file)))", "if (0)"),
 ("read-behind-the-chain", "sample.c", "\tG(READ, size_read(s), put_read(w, s))\t\t\t\t\t\\\n\tG(CALLCHAIN, size_chain(s), put_chain(w, s))\t\t\t\t\\\n", "\tG(CALLCHAIN, size_chain(s), put_chain(w, s))\t\t\t\t\\\n\tG(READ, size_read(s), put_read(w, s))\t\t\t\t\t\\\n"),
 ("id-of-the-copy", "sample.c", "\tF(ID, s->e->root->id)", "\tF(ID, s->e->id)"),
 ("aux-left-out", "sample.c", "\tF(CODE_PAGE_SIZE, s->code_page)\t\t\t\t\t\t\\\n\tF(AUX, 0)", "\tF(CODE_PAGE_SIZE, s->code_page)"),
 ("raw-without-length", "sample.c", "\tF(RAW, 4)", "\tF(RAW, 0)"),
 ("stack-without-its-end", "sample.c", "return s->stack_size ? 8 + s->stack_size + 8 : 8;", "return 8 + s->stack_size;"),
 ("prepared-without-its-end", "sample.c", "return used + (s->stack_size ? s->stack_size + 8 : 0);",
     "return used + s->stack_size;"),
    ("regs-without-regs", "sample.c", "return 8 + (regs ? 8 *", "return 8 + (true ? 8 *"),
 ("no-data-source", "sample.c", "0x1e05080021ULL", "0ULL"),
 ("weight-twice", "sample.c", "\tF(WEIGHT_STRUCT, 0)\t\t\t\t\t\t\t\\\n", ""),
 ("regs-intr-as-user", "sample.c", "put_regs(w, s->regs, s->e->attr.sample_regs_intr)", "put_regs(w, s->uregs, s->e->attr.sample_regs_intr)"),
 ("read-of-the-family", "sample.c", "\treturn e->attr.inherit;", "\treturn false;"),
 ("read-without-times", "sample.c", "\tif (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)\n\t\tw = ring_word(w, s->e->running);", ""),
 ("no-read-record", "task.c", "if (e->root != e && e->attr.inherit_stat)", "if (0)"),
 ("frequency-only-at-the-tick", "overflow.c", "\tif (e->attr.freq)\n\t\tfreq_overflow(e);\n", ""),
 ("off-but-told", "sideband.c", "if (e->state >= PERF_ON && (e->cpu", "if ((e->cpu"),
 ("told-on-other-cpus", "sideband.c", "(e->cpu < 0 || e->cpu == (int)host_cpu())", "true"),
 ("exit-without-parent", "sideband.c", "\thost_task_parent(t, &ptgid, &ptid);", "\tptgid = ptid = 0;"),
 ("redirect-to-another-cpu", "output.c", "if (e == to || e->cpu != to->cpu)", "if (e == to)"),
 ("redirect-to-another-task", "output.c", "if (e->cpu < 0 && e->target != to->target)", "if (0)"),
 ("redirect-to-another-clock", "output.c", "if (!same_clock(e, to) || ", "if ("),
 ("redirect-to-backward", "output.c", " || e->attr.write_backward != to->attr.write_backward", ""),
 ("inherit-any-cpu-mapped", "output.c", "\tif (e->cpu < 0 && e->attr.inherit)\n\t\treturn -EINVAL;", ""),
 ("crowd-unnoticed", "output.c", "\t\tmake_crowded(r);", "\t\t;"),
 ("odd-number-of-pages", "output.c", "data & (data - 1) || ", ""),
 ("no-hup-at-the-end", "output.c", "if (!is_over(e) && e->ring)", "if (e->ring)"),
 ("pages-paid-for-ever", "output.c", "\tuncharge(r, true);\n}", "}"),
 ("aux-anywhere", "output.c", "offset != req->pgoff * RING_PAGE", "false"),
 ("chain-too-long", "callchain.c", "\tc->addresses -= got;\n", ""),
 ("chain-limits-move", "sysctl.c", "if (!callchain_in_use()) {", "if (true) {"),
 ("chain-buffers-stay", "callchain.c", "if (!--chain_events)\n\t\tfree_buffers();", "--chain_events;"),
 ("refused-chain-counts", "callchain.c", "\tif (e->attr.sample_max_stack > sysctl_max_stack())\n\t\treturn -EOVERFLOW;", "\tif (e->attr.sample_max_stack > sysctl_max_stack()) {\n\t\tchain_events++;\n\t\treturn -EOVERFLOW;\n\t}"),
 ("marks-without-limit", "callchain.c", "\tif (!c->marks)\n\t\treturn;\n", ""),
 ("chain-beyond-the-record", "callchain.c", "c.addresses = min_t(u32, c.addresses, room - CHAIN_CONTEXTS);", ""),
 ("stack-beyond-the-record", "sample.c", "if (used < RECORD_MAX)", "if (true)"),
 ("late-sample-dropped", "sample.c", "\tif (!r)\n\t\treturn;", "\tif (!r || !is_visible(e, regs))\n\t\treturn;"),
 ("kernel-shown-to-who-excludes-it", "sample.c", "s.regs = visible_regs(e, regs);", "s.regs = regs;"),
 ("chain-of-the-kernel-shown", "sample.c", ".regs = visible_regs(e, regs),", ".regs = regs,"),
 ("kernel-shown-straight", "sample.c", "ahead.room < e->sample_fixed || !is_visible(e, regs)", "ahead.room < e->sample_fixed"),
 ("straight-over-the-page", "ring.c", "limit = (head | (RING_PAGE - 1)) + 1;", "limit = head + r->size;"),
 ("straight-over-the-tail", "ring.c", "\tlimit = min_t(u64, limit, head + room_between(r, head, READ_ONCE(r->control->data_tail)));\t/* A */\n", ""),
 ("straight-over-the-watermark", "ring.c", "\tlimit = min_t(u64, limit, READ_ONCE(r->woken) + r->watermark);\n", ""),
 ("straight-over-the-loss", "ring.c", "\tif (READ_ONCE(r->lost))\n\t\tWRITE_ONCE(r->limit, 0);\n", ""),
 ("straight-after-the-loss", "record.c", "\tWRITE_ONCE(r->limit, 0);\n", ""),
 ("straight-though-odd", "ring.h", "READ_ONCE(r->unusual) ? 0 : (s64)(limit - head)", "(s64)(limit - head)"),
 ("straight-without-asking", "ring.h", "return likely(ring_move_head(r, &head, next));", "r->head = next;\n\treturn true;"),
 ("chain-again-unpublished", "sample.c", "\t\tring_publish_head(r);\n\t\treturn chain_anywhere(", "\t\treturn chain_anywhere("),
 ("copies-tell-the-roots-losses", "sample.c", "__atomic_load_n(&e->lost, __ATOMIC_RELAXED)", "__atomic_load_n(&e->root->lost, __ATOMIC_RELAXED)"),
 ("wakeup-events-ignored", "sample.c", "\tr->samples -= e->attr.wakeup_events;\n\treturn true;", "\tr->samples -= e->attr.wakeup_events;\n\treturn false;"),
 ("never-throttle", "overflow.c", "e->int_left = most ? most - 1 : 0;", "e->int_left = UINT32_MAX;"),
 ("one-more-per-tick", "overflow.c", "e->int_left = most ? most - 1 : 0;", "e->int_left = most;"),
 ("no-unthrottle-record", "overflow.c", "\thold_tick(false);\n\tlog_throttle(e, true);", "\thold_tick(false);"),
 ("tick-held-for-ever", "overflow.c", "\thold_tick(false);\n\tlog_throttle(e, true);", "\tlog_throttle(e, true);"),
 ("budget-one-too-many", "overflow.c", "if (e->budget && !--e->budget)", "if (e->budget && !e->budget--)"),
 ("no-hup", "overflow.c", "note(e, PEND_HUP | PEND_DISABLE);", "note(e, PEND_SIGIO | PEND_DISABLE);"),
 ("budget-stays-on", "overflow.c", "note(e, PEND_HUP | PEND_DISABLE);", "note(e, PEND_HUP);"),
 ("trap-outlives-its-event", "context.c", "\toverflow_forget_trap(e);\n", ""),
    ("trap-at-each-overflow", "overflow.c", "\tif (e->trap_owed)\n\t\treturn;\n", ""),
 ("software-always-throttled", "sw.c", "h->addr, period, more, host_now());", "h->addr, period, true, host_now());"),
 ("clock-keeps-its-period", "event.c", "\tclock_restart(e);\n", ""),
 ("clock-forgets-the-rest", "clock.c", "e->period_end > now ? (s64)(e->period_end - now) : (s64)period_of(e)", "(s64)period_of(e)"),
 ("frequency-stands-still", "freq.c", "e->sample_period = next > 0 ? (u64)next : 1;", ";"),
 ("redirect-to-nowhere", "output.c", "if (e->nr_maps || (to && !to->ring))", "if (e->nr_maps)"),
 ("unmap-keeps-redirectors", "output.c", "\tif (!--r->maps)\n\t\tabandon(r);", "\tif (!--r->maps)\n\t\tuncharge(r, true);"),
 ("ring-leaks", "output.c", "\tdrain();\n\tring_put(old);", "\tdrain();"),
 ("other-size-mapped", "output.c", "if (r->nr_pages != data)", "if (0)"),
 ("poll-keeps-ready", "output.c", "__atomic_exchange_n(&e->ring->ready, 0, __ATOMIC_ACQ_REL)", "e->ring->ready"),
 ("exit-before-fork", "sideband.c", ".type = PERF_RECORD_FORK", ".type = PERF_RECORD_EXIT"),
 ("comm-not-padded", "sideband.c", "+ 8) & ~7u);\t/* with at least one 0 */", "+ 7) & ~7u);"),
 ("trap-goes-with-the-context", "switch.c", " &&\n\t       !a->traps_owed && !b->traps_owed", ""),
 ("level-3-for-perfmon", "core.h", "sysctl_paranoid() > 2 && !host_capable(HOST_CAP_SYS_ADMIN)", "sysctl_paranoid() > 2 && !access_privileged()"),
 ("signals-without-kill", "access.c", " && (!attr->sigtrap || host_capable(HOST_CAP_KILL))", ""),
 ("reset-of-the-gone-unseen", "event.c", "\te->count = 0;\n\tuserpage_update(e);\n}", "\te->count = 0;\n\tif (ctx)\n\t\tuserpage_update(e);\n}"),
 ("limit-only-for-the-rest", "output.c", "if (pinned + r->mm_pages >", "if (r->mm_pages && pinned + r->mm_pages >"),
 ("rate-never-lowered", "cputime.c", "if (unlikely(*sum / SAMPLES > limit))", "if (0)"),
]

def sh(*a):
	return subprocess.run(a, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

def run(build, name, file, old, new):
	src = open(f"{PERF}/{file}").read()
	if src.count(old) != 1:
		return f"does not apply ({src.count(old)} times)"
	work = f"{build}/mutant"
	shutil.rmtree(work, ignore_errors=True)	# nothing of the one before
	os.makedirs(work)
	for h in glob.glob(PERF + "/*.h") + (glob.glob(PERF + "/*.c") if file.endswith(".h") else []):
		open(f"{work}/{os.path.basename(h)}", "w").write(open(h).read())
	open(f"{work}/{file}", "w").write(src.replace(old, new))
	cc = ["gcc", "-std=gnu11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-w",
	      f"-I{TOP}/include", f"-I{TOP}/../../include", f"-I{TOP}/../../include/uapi"]
	todo = [file] if file.endswith(".c") else [os.path.basename(c) for c in glob.glob(PERF + "/*.c")]
	objs = {f"{build}/{os.path.basename(c)[:-2]}.o" for c in glob.glob(TOP + "/*.c")}
	objs |= {f"{build}/core-{os.path.basename(c)[:-2]}.o" for c in glob.glob(PERF + "/*.c")}
	for c in todo:
		o = f"{work}/core-{c[:-2]}.o"
		r = sh(*cc, "-c", "-o", o, f"{work}/{c}")
		if r.returncode:
			return "does not compile: " + r.stdout[-300:]
		objs.discard(f"{build}/core-{c[:-2]}.o")
		objs.add(o)
	if file in ("ring.c", "record.c", "sample.c", "ring.h", "sample.h"):	# ringsteps.c contains them
		o = f"{work}/ringsteps.o"
		# From a tree of its own: the tests' headers include "../../kernel/perf/core.h", and that has to be the broken one.
		os.makedirs(f"{work}/top/kernel")
		os.symlink("../..", f"{work}/top/kernel/perf")
		shutil.copytree(TOP, f"{work}/top/tests/host")
		r = sh(*[a for a in cc if not a.startswith("-fsan")], f"-I{work}", f"-I{PERF}", "-c", "-o", o,
		       f"{work}/top/tests/host/ringsteps.c")
		if r.returncode:
			return "does not compile: " + r.stdout[-300:]
		objs.discard(f"{build}/ringsteps.o")
		objs.add(o)
	r = sh(*cc, "-o", f"{work}/perf-host", *sorted(objs))
	if r.returncode:
		return "does not link: " + r.stdout[-300:]
	r = sh(f"{work}/perf-host", "-q", "-r", "40", "-o", "2000")
	return "SURVIVED" if r.returncode == 0 else "caught by" + r.stdout.split("FAIL", 1)[-1].split("(")[0].rstrip()

def main():
	if len(sys.argv) < 2 or "--help" in sys.argv:
		print(__doc__)
		return 2 * (len(sys.argv) < 2)
	build, only = sys.argv[1], [a for a in sys.argv[2:] if a != "--quick"]
	quick = "--quick" in sys.argv
	unknown = set(only) - {m[0] for m in M}
	if unknown:
		sys.exit(f"mutants: no such mutant: {' '.join(sorted(unknown))}")
	bad = n = 0
	os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
	r = sh(f"{build}/perf-host", "-q", "-r", "40", "-o", "2000")
	if r.returncode:	# or every mutant would seem to be caught
		sys.exit("mutants: the tests fail without a mutant" + r.stdout.split("FAIL", 1)[-1].split("(")[0])
	for i, m in enumerate(M):
		if (only and m[0] not in only) or (quick and i % 12):
			continue
		verdict = run(build, *m)
		if quick and verdict.startswith("does not apply"):
			print(f"# {m[0]}: {verdict}")
			continue
		n += 1
		if not verdict.startswith("caught"):
			bad += 1
		print(f"{m[0]:28} {verdict}", flush=True)
	print(f"mutants: {n - bad} passed, {bad} failed")
	return bad != 0

sys.exit(main())
