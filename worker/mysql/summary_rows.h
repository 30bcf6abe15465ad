// SummaryRows over one MySQL session.
#pragma once

#include "base/io/mysql.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

class MysqlSummaryRows final : public SummaryRows {
  public:
    /// `session` has an open transaction and outlives this object.
    explicit MysqlSummaryRows(MysqlSession& session) : session_(session) {}

    Result<void> insert(const std::vector<SummaryRow>& rows) override;
    Result<std::optional<SummaryRow>> find(const TurnId& turn) override;
    Result<std::optional<SummaryRow>> lock(const TurnId& turn) override;
    Result<void> update(const SummaryRow& row) override;
    Result<std::vector<TurnId>> owed(std::size_t limit) override;
    Result<std::string> keep_instruction(const TurnId& turn, const std::string& ask_id) override;
    Result<LlmSpending> lock_llm_spending(const std::string& model, const std::string& day) override;
    Result<void> put_llm_spending(const std::string& model, const std::string& day,
                                  const LlmSpending& spending) override;

  private:
    Result<std::optional<SummaryRow>> summary_row(const TurnId& turn, const std::string& lock);

    MysqlSession& session_;
};

}  // namespace epilogue
