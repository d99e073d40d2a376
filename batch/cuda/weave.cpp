// A pass of opt: memory of worlds is woven. The 32 worlds of a warp lie word by word beside each
// other, so that threads which read the same field read one line of memory.
//
// A pointer into a woven world is marked (woven.h) and has the offset in that world, so that it
// counts in bytes like any other and is the same number in all worlds. Each load, store and copy
// looks at the mark and finds its words from the lane's first one, woven_lane(). Accesses of the
// stack and of constants stay as they are.
//
// `weave-card` does so by PTX with predicated loads and stores, `weave` by code for any processor.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/ErrorHandling.h>

#include "woven.h"

using namespace llvm;

namespace {

constexpr uint64_t shortCopy = 64; // bytes, that are copied without a loop

// Memory that is never woven: all objects it may be are known.
bool isPlain(const Value *pointer)
{
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(pointer, objects);
  return all_of(objects, [](const Value *object) {
    const auto *argument = dyn_cast<Argument>(object);
    return isa<AllocaInst>(object) || isa<GlobalVariable>(object) ||
           isa<ConstantPointerNull>(object) || (argument && argument->hasByValAttr());
  });
}

// An access in pieces: words, or less where it is not aligned to them.
class Access {
public:
  Access(IRBuilder<> &builder, Value *lane, Value *pointer, uint64_t size, uint64_t alignment)
      : b(builder), lane(lane), size(size), alignment(alignment)
  {
    unit = std::min<uint64_t>({alignment, 4, size & -size});
    pieceType = b.getIntNTy(unsigned(8 * unit));
    address = b.CreatePtrToInt(pointer, b.getInt64Ty());
  }
  virtual ~Access() = default;

  unsigned count() const
  {
    return unsigned(size / unit);
  }
  Type *type() const
  {
    return pieceType;
  }
  virtual SmallVector<Value *, 16> load() = 0;
  virtual void store(ArrayRef<Value *> pieces) = 0;

protected:
  IRBuilder<> &b;
  Value *lane;
  uint64_t size, alignment, unit;
  Type *pieceType;
  Value *address;
};

class PortableAccess : public Access {
public:
  using Access::Access;

  SmallVector<Value *, 16> load() override
  {
    SmallVector<Value *, 16> pieces;
    for (unsigned k = 0; k < count(); ++k) {
      pieces.push_back(b.CreateAlignedLoad(pieceType, place(k), Align(unit)));
    }
    return pieces;
  }

  void store(ArrayRef<Value *> pieces) override
  {
    for (unsigned k = 0; k < count(); ++k) {
      b.CreateAlignedStore(pieces[k], place(k), Align(unit));
    }
  }

private:
  Value *place(unsigned piece)
  {
    Value *at = b.CreateAdd(address, b.getInt64(piece * unit));
    Value *word = b.CreateAnd(at, 0xfffffffc), *byte = b.CreateAnd(at, 3);
    Value *woven = b.CreateAdd(b.CreateAdd(lane, b.CreateShl(word, WOVEN_SHIFT)), byte);
    Value *marked = b.CreateICmpSGE(at, b.getInt64(WOVEN_MARK));
    return b.CreateIntToPtr(b.CreateSelect(marked, woven, at), pieceType->getPointerTo());
  }
};

// One piece of PTX for up to four words, or for a piece of a word.
class CardAccess : public Access {
public:
  using Access::Access;

  SmallVector<Value *, 16> load() override
  {
    SmallVector<Value *, 16> pieces;
    for (unsigned k = 0; k < count(); k += run(k)) {
      unsigned n = run(k);
      std::string text = head(n), constraints;
      for (unsigned i = 0; i < n; ++i) {
        text += "@q ld.global." + suffix() + " $" + std::to_string(i) + ",[a+" +
                std::to_string(128 * i) + "]; ";
        constraints += "=r,";
      }
      text +=
          "@!q ld." + vector(n) + suffix() + " " + list(0, n) + ",[$" + std::to_string(n) + "]; }";
      SmallVector<Type *, 4> types(n, b.getInt32Ty());
      Type *result = n == 1 ? types[0] : StructType::get(b.getContext(), types);
      Value *made = call(result, text, constraints + "l,l,~{memory}", {at(k), lane});
      for (unsigned i = 0; i < n; ++i) {
        Value *piece = n == 1 ? made : b.CreateExtractValue(made, i);
        pieces.push_back(b.CreateTrunc(piece, pieceType));
      }
    }
    return pieces;
  }

  void store(ArrayRef<Value *> pieces) override
  {
    for (unsigned k = 0; k < count(); k += run(k)) {
      unsigned n = run(k);
      std::string text = head(0), constraints = "l,l";
      SmallVector<Value *, 6> arguments = {at(k), lane};
      for (unsigned i = 0; i < n; ++i) {
        text += "@q st.global." + suffix() + " [a+" + std::to_string(128 * i) + "],$" +
                std::to_string(2 + i) + "; ";
        constraints += ",r";
        arguments.push_back(b.CreateZExt(pieces[k + i], b.getInt32Ty()));
      }
      text += "@!q st." + vector(n) + suffix() + " [$0]," + list(2, n) + "; }";
      call(b.getVoidTy(), text, constraints + ",~{memory}", arguments);
    }
  }

private:
  // Words from piece `k` on that plain memory can give at once.
  unsigned run(unsigned k) const
  {
    unsigned left = count() - k;
    if (unit < 4) {
      return 1;
    }
    return alignment >= 16 && left >= 4 ? 4 : alignment >= 8 && left >= 2 ? 2 : 1;
  }

  std::string suffix() const
  {
    return unit == 4 ? "b32" : unit == 2 ? "u16" : "u8";
  }
  static std::string vector(unsigned n)
  {
    return n == 1 ? "" : "v" + std::to_string(n) + ".";
  }

  static std::string list(unsigned first, unsigned n)
  {
    std::string text = "$" + std::to_string(first);
    for (unsigned i = 1; i < n; ++i) {
      text += ",$" + std::to_string(first + i);
    }
    return n == 1 ? text : "{" + text + "}";
  }

  Value *at(unsigned piece)
  {
    return b.CreateAdd(address, b.getInt64(piece * unit));
  }

  // q: whether the pointer, operand `p`, is marked; a: the address of its word or part of a word.
  std::string head(unsigned p) const
  {
    std::string pointer = "$" + std::to_string(p), first = "$" + std::to_string(p + 1);
    std::string text = "{ .reg .pred q; .reg .b32 o,h; .reg .b64 a; mov.b64 {o,h}," + pointer +
                       "; setp.ge.s32 q,h,1073741824; ";
    if (unit == 4) {
      return text + "mad.wide.u32 a,o,32," + first + "; ";
    }
    return text + ".reg .b64 e; and.b32 h,o,3; and.b32 o,o,-4; cvt.u64.u32 e,h; add.s64 e,e," +
           first + "; mad.wide.u32 a,o,32,e; ";
  }

  Value *call(Type *result, const std::string &text, const std::string &constraints,
              ArrayRef<Value *> arguments)
  {
    SmallVector<Type *, 8> types;
    for (Value *argument : arguments) {
      types.push_back(argument->getType());
    }
    auto *type = FunctionType::get(result, types, false);
    return b.CreateCall(type, InlineAsm::get(type, text, constraints, true), arguments);
  }
};

class Weaver {
public:
  Weaver(Function &function, bool card)
      : function(function), module(*function.getParent()), layout(module.getDataLayout()),
        card(card)
  {
  }

  void weave(Instruction &i)
  {
    IRBuilder<> b(&i);
    if (auto *load = dyn_cast<LoadInst>(&i)) {
      if (!isPlain(load->getPointerOperand())) {
        weaveLoad(b, *load);
      }
    } else if (auto *store = dyn_cast<StoreInst>(&i)) {
      if (!isPlain(store->getPointerOperand())) {
        weaveStore(b, *store);
      }
    } else if (auto *transfer = dyn_cast<MemTransferInst>(&i)) {
      if (!isPlain(transfer->getRawDest()) || !isPlain(transfer->getRawSource())) {
        weaveCopy(b, *transfer);
      }
    } else if (auto *set = dyn_cast<MemSetInst>(&i)) {
      if (!isPlain(set->getRawDest())) {
        weaveSet(b, *set);
      }
    } else if (auto *call = dyn_cast<CallBase>(&i); call && !isa<IntrinsicInst>(i)) {
      passCopies(*call);
      call->addFnAttr(Attribute::NoBuiltin); // memcmp and its like stay calls, of the woven ones
    } else if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i)) {
      report_fatal_error("weave: an atomic operation in " + function.getName());
    } else if (auto *intrinsic = dyn_cast<IntrinsicInst>(&i)) {
      if (intrinsic->getIntrinsicID() == Intrinsic::prefetch) {
        i.eraseFromParent();
      }
    }
  }

private:
  // The address of the lane's first word, found once in each function.
  Value *laneBase()
  {
    if (!lane) {
      IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
      FunctionCallee callee = module.getOrInsertFunction("woven_lane", b.getInt64Ty());
      lane = b.CreateCall(callee);
    }
    return lane;
  }

  std::unique_ptr<Access> access(IRBuilder<> &b, Value *pointer, uint64_t size, uint64_t alignment)
  {
    Value *base = laneBase();
    if (card) {
      return std::make_unique<CardAccess>(b, base, pointer, size, alignment);
    }
    return std::make_unique<PortableAccess>(b, base, pointer, size, alignment);
  }

  // Numbers go to memory as integers of as many bits.
  IntegerType *bitsOf(Type *type)
  {
    if (type->isAggregateType()) {
      report_fatal_error("weave: an aggregate is loaded or stored whole");
    }
    return IntegerType::get(module.getContext(), unsigned(8 * layout.getTypeStoreSize(type)));
  }

  void weaveLoad(IRBuilder<> &b, LoadInst &load)
  {
    Type *type = load.getType();
    IntegerType *bits = bitsOf(type);
    auto from =
        access(b, load.getPointerOperand(), bits->getBitWidth() / 8, load.getAlign().value());
    SmallVector<Value *, 16> pieces = from->load();
    Value *value = pieces[0];
    if (pieces.size() > 1) {
      value = UndefValue::get(FixedVectorType::get(from->type(), from->count()));
      for (unsigned k = 0; k < pieces.size(); ++k) {
        value = b.CreateInsertElement(value, pieces[k], k);
      }
      value = b.CreateBitCast(value, bits);
    }
    if (type->isPointerTy()) {
      value = b.CreateIntToPtr(value, type);
    } else if (layout.getTypeSizeInBits(type) < bits->getBitWidth()) {
      value = b.CreateTrunc(value, type);
    } else {
      value = b.CreateBitCast(value, type);
    }
    load.replaceAllUsesWith(value);
    load.eraseFromParent();
  }

  void weaveStore(IRBuilder<> &b, StoreInst &store)
  {
    Value *value = store.getValueOperand();
    Type *type = value->getType();
    IntegerType *bits = bitsOf(type);
    auto to =
        access(b, store.getPointerOperand(), bits->getBitWidth() / 8, store.getAlign().value());
    if (type->isPointerTy()) {
      value = b.CreatePtrToInt(value, bits);
    } else if (layout.getTypeSizeInBits(type) < bits->getBitWidth()) {
      value = b.CreateZExt(value, bits);
    }
    SmallVector<Value *, 16> pieces;
    if (to->count() == 1) {
      pieces.push_back(b.CreateBitCast(value, bits));
    } else {
      value = b.CreateBitCast(value, FixedVectorType::get(to->type(), to->count()));
      for (unsigned k = 0; k < to->count(); ++k) {
        pieces.push_back(b.CreateExtractElement(value, k));
      }
    }
    to->store(pieces);
    store.eraseFromParent();
  }

  void weaveCopy(IRBuilder<> &b, MemTransferInst &copy)
  {
    auto *length = dyn_cast<ConstantInt>(copy.getLength());
    uint64_t size = length ? length->getZExtValue() : 0;
    uint64_t alignment =
        std::min(copy.getDestAlign().valueOrOne(), copy.getSourceAlign().valueOrOne()).value();
    if (size > 0 && size <= shortCopy && size % 4 == 0 && alignment >= 4) {
      auto from = access(b, copy.getRawSource(), size, alignment);
      auto to = access(b, copy.getRawDest(), size, alignment);
      to->store(from->load());
    } else {
      call(b, isa<MemMoveInst>(copy) ? "woven_move" : "woven_copy",
           {copy.getRawDest(), copy.getRawSource(), copy.getLength()});
    }
    copy.eraseFromParent();
  }

  void weaveSet(IRBuilder<> &b, MemSetInst &set)
  {
    auto *length = dyn_cast<ConstantInt>(set.getLength());
    auto *value = dyn_cast<ConstantInt>(set.getValue());
    uint64_t size = length ? length->getZExtValue() : 0;
    uint64_t alignment = set.getDestAlign().valueOrOne().value();
    if (value && value->isZero() && size > 0 && size <= shortCopy && size % 4 == 0 &&
        alignment >= 4) {
      auto to = access(b, set.getRawDest(), size, alignment);
      to->store(SmallVector<Value *, 16>(to->count(), b.getInt32(0)));
    } else {
      call(b, "woven_fill", {set.getRawDest(), set.getValue(), set.getLength()});
    }
    set.eraseFromParent();
  }

  // An argument that is passed by value is copied by the call itself: to the stack before that.
  void passCopies(CallBase &call)
  {
    for (unsigned k = 0; k < call.arg_size(); ++k) {
      if (!call.isByValArgument(k) || isPlain(call.getArgOperand(k))) {
        continue;
      }
      Type *type = call.getParamByValType(k);
      Align alignment = call.getParamAlign(k).valueOrOne();
      IRBuilder<> entry(&function.getEntryBlock().front());
      AllocaInst *room = entry.CreateAlloca(type);
      room->setAlignment(std::max(alignment, room->getAlign()));
      IRBuilder<> b(&call);
      auto *copy = cast<MemTransferInst>(b.CreateMemCpy(
          room, room->getAlign(), call.getArgOperand(k), alignment, layout.getTypeAllocSize(type)));
      call.setArgOperand(k, room);
      weaveCopy(b, *copy);
    }
  }

  void call(IRBuilder<> &b, StringRef name, ArrayRef<Value *> arguments)
  {
    Function *callee = module.getFunction(name);
    if (!callee) {
      report_fatal_error("weave: there is no " + name);
    }
    b.CreateCall(callee, arguments)->setCallingConv(callee->getCallingConv());
  }

  Function &function;
  Module &module;
  const DataLayout &layout;
  bool card;
  Value *lane = nullptr;
};

struct WeavePass : PassInfoMixin<WeavePass> {
  explicit WeavePass(bool card) : card(card)
  {
  }
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) const
  {
    for (Function &function : module) {
      if (function.isDeclaration() || function.getName() == "woven_lane") {
        continue;
      }
      Weaver weaver(function, card);
      for (Instruction &i : make_early_inc_range(instructions(function))) {
        weaver.weave(i);
      }
    }
    return PreservedAnalyses::none();
  }
  static bool isRequired()
  {
    return true;
  }
  bool card;
};

void addPass(PassBuilder &builder)
{
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
        bool found = name == "weave" || name == "weave-card";
        if (found) {
          manager.addPass(WeavePass(name == "weave-card"));
        }
        return found;
      });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
  return {LLVM_PLUGIN_API_VERSION, "weave", "1", addPass};
}
